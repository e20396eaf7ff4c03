import type { RedisConnection } from '../client/redis-connection.js';
import type { Script } from '../client/script.js';
import { type Refusal, runStep } from './refusal.js';

export interface Publication {
  readonly lease: string;
  /** The server that was staged on; '' when it may not be asked. */
  readonly runId: string;
  readonly format: string;
  /** The application that claims the filter, '' for none. */
  readonly owner: string;
  /** Whether the metadata are made when there are none. */
  readonly makesMeta: boolean;
  /** Fields and values of the staged generation. */
  readonly fields: readonly (string | number)[];
}

/** Runs the script that makes a staged generation known. */
export function publishStep(
  connection: RedisConnection,
  script: Script,
  keys: { readonly meta: string; readonly lease: string },
  { lease, runId, format, owner, makesMeta, fields }: Publication,
): Promise<Refusal | 'OK'> {
  const args = [lease, runId, format, owner, makesMeta ? 1 : '', ...fields];
  return runStep(connection, script, [keys.meta, keys.lease], args);
}
