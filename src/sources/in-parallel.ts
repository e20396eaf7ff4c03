import { BloomConfigError } from '../common/index.js';
import type { BloomId } from '../filter/index.js';
import { type BloomIdsContext, type BloomIdSource, packedTogether } from '../rebuild/index.js';
import { mergedInAnyOrder } from './merged-in-any-order.js';
import type { BloomSourceFactory } from './source-factory.js';
import { NO_SOURCES, notASourceToMerge, spellingsDiffer } from './sources.messages.js';

/** What `inParallel` takes. */
export type BloomParallelSource = BloomIdSource | BloomSourceFactory;

/**
 * One source of several, which are read at the same time: shards, tables of several kinds of rows, or ranges of one table. A source that fails
 * fails the run, and stops the others. Together they have to read every id; one that several of them read is no harm. While they are read,
 * no row may move from one of them to another.
 *
 * @example
 * inParallel(shards.map((pool) => postgresCopy({ pool, table: 'products', column: 'id' })));
 *
 * @throws {BloomConfigError} when there is no source, or an element is not a source; at the start of the application, when they spell ids differently.
 */
export function inParallel(sources: readonly BloomParallelSource[]): BloomSourceFactory {
  if (!Array.isArray(sources) || sources.length === 0) throw new BloomConfigError(NO_SOURCES);
  for (const source of sources)
    if (!isSource(source) && !isFactory(source)) throw new BloomConfigError(notASourceToMerge(source));
  const injected = sources.map((source) => (isFactory(source) ? (source.inject ?? []) : []));
  return {
    inject: injected.flat(),
    useFactory: async (...provided: unknown[]) => {
      let taken = 0;
      const made = await Promise.all(
        sources.map((source, i) => {
          if (!isFactory(source)) return source;
          const own = provided.slice(taken, (taken += injected[i]!.length));
          return source.useFactory(...own);
        }),
      );
      for (const source of made) if (!isSource(source)) throw new BloomConfigError(notASourceToMerge(source));
      return together(made);
    },
  };
}

/** @throws {BloomConfigError} when they spell ids differently. */
function together(sources: readonly BloomIdSource[]): BloomIdSource {
  const [first] = sources;
  const spelling = first!.spelling;
  for (const source of sources) {
    const other = source.spelling;
    const isSame = other?.name === spelling?.name && other?.normalize === spelling?.normalize;
    if (!isSame) throw new BloomConfigError(spellingsDiffer(spelling?.column, other?.column));
  }
  return {
    ids: (context) => readTogether(sources, context),
    ...(sources.every((source) => source.count) && { count: () => countTogether(sources) }),
    ...(spelling && { spelling }),
  };
}

function readTogether(
  sources: readonly BloomIdSource[],
  context: BloomIdsContext,
): AsyncIterable<BloomId | readonly BloomId[]> {
  const ended = new AbortController();
  const signal = AbortSignal.any([context.signal, ended.signal]);
  const all = opened(sources, { ...context, signal }, ended);
  const merge = <Value>(readers: readonly AsyncIterable<Value>[]) => mergedInAnyOrder(readers, ended);
  return packedTogether(all, merge) ?? merge(all);
}

function opened(sources: readonly BloomIdSource[], context: BloomIdsContext, ended: AbortController) {
  try {
    return sources.map((source) => source.ids(context));
  } catch (error) {
    // Those before it may have begun.
    ended.abort(error);
    throw error;
  }
}

async function countTogether(sources: readonly BloomIdSource[]): Promise<number | undefined> {
  const counts = await Promise.all(sources.map((source) => source.count!()));
  // What is no number is reported by whoever asked.
  return counts.includes(undefined) ? undefined : counts.reduce<number>((sum, count) => sum + count!, 0);
}

function isFactory(source: unknown): source is BloomSourceFactory {
  return has(source, 'useFactory');
}

function isSource(source: unknown): source is BloomIdSource {
  return has(source, 'ids');
}

function has(source: unknown, name: string): boolean {
  return (
    typeof source === 'object' &&
    source !== null &&
    typeof (source as Record<string, unknown>)[name] === 'function'
  );
}
