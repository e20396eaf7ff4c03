import type { RedisConnection } from '../client/redis-connection.js';
import type { Script } from '../client/script.js';
import { unexpectedReplyError } from '../client/server-replies.js';

export const REFUSALS = ['OWNER', 'LEASE', 'NOMETA', 'FORMAT', 'SERVER', 'STALE', 'LENGTH'] as const;

/** Why a step of a rebuild was refused. */
export type Refusal = (typeof REFUSALS)[number];

/**
 * Runs a script of a rebuild.
 *
 * @param more words that this script replies besides
 * @throws {BloomUnavailableError} when it could not be run, or replied something else.
 */
export async function runStep<const Word extends string = never>(
  connection: RedisConnection,
  script: Script,
  keys: readonly string[],
  args: readonly (string | number | Buffer)[],
  more: readonly Word[] = [],
): Promise<Refusal | 'OK' | Word> {
  const words: readonly (Refusal | 'OK' | Word)[] = [...REFUSALS, 'OK', ...more];
  return wordIn(words, script, await connection.run(script, keys, args));
}

/** @throws {BloomUnavailableError} when the reply of a script is something else. */
export function assertRefusal(script: Script, reply: unknown): Refusal {
  return wordIn(REFUSALS, script, reply);
}

/** @throws {BloomUnavailableError} when the reply of a script is none of the words. */
export function wordIn<const Word extends string>(
  words: readonly Word[],
  script: Script,
  reply: unknown,
): Word {
  const word = words.find((one) => one === String(reply));
  if (word === undefined)
    throw unexpectedReplyError(script.name, Buffer.isBuffer(reply) ? String(reply) : reply);
  return word;
}

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

/** How often a step starts over when the filter changed: at most a few times a second. */
export const MAX_ATTEMPTS = 5;

/** What one command of a rebuild moves: Redis serves other clients in between. */
export const PIECE_BYTES = 256 * 1024;

/** Life of retired keys: they are removed long before, unless the process dies. */
export const RETIRED_LIFE_MS = 60_000;
