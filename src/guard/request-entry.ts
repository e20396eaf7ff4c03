import type { EntryPoint } from './guarded-call.js';
import { noRouteParameter } from './guard.messages.js';
import type { BloomGuardedOptions } from './guard-options.js';
import type { IdReader } from './id-reader.js';
import { ReaderMistake } from './reader-mistake.js';
import { syncAnswer } from './sync-answer.js';

/** What Express and Fastify have in common. */
export interface HttpRequest {
  readonly params: Record<string, unknown>;
}

/** Requests, on their way to the route. */
export function requestEntry({ param, id }: BloomGuardedOptions): EntryPoint {
  return {
    readId: requestReader(param ?? id),
    readBy: `its option ${param === undefined ? 'id' : 'param'}`,
    context: () => 'http',
    isNullable: () => false,
    absent: undefined,
  };
}

function requestReader(param: BloomGuardedOptions['param']): IdReader {
  if (typeof param === 'function') return (_, [request]) => syncAnswer('the option param', param(request));
  const name = param ?? 'id';
  return (_, args) => {
    const { params } = args[0] as HttpRequest;
    if (name in params) return params[name];
    // A route that has no such parameter is a mistake of its author: it must not make all rows absent.
    throw new ReaderMistake(noRouteParameter(name));
  };
}
