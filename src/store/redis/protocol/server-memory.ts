import { BloomRebuildError, describeError } from '../../../common/index.js';
import type { RedisConnection } from '../client/redis-connection.js';
import { defineScripts } from '../client/script.js';
import { coreLua } from '../lua/core.generated.js';
import { outOfMemory, stepRefused } from './protocol.messages.js';
import type { RedisKeys } from './redis-keys.js';

const { memory: MEMORY } = defineScripts(coreLua, ['memory']);

/** Memory that was short is short for longer than a moment: the next automatic attempt comes after this time. */
const RETRY_MS = 120_000;
/** Filters that fit alone, and not together, do not try again at the same time. */
const RETRY_JITTER_MS = 60_000;

/** What a server with `maxmemory` says of its memory, in bytes. */
export interface ServerMemory {
  /** What counts against the limit. */
  readonly used: number;
  readonly limit: number;
  /** `maxmemory-policy`. */
  readonly policy: string;
}

export interface MemoryReply {
  /** Undefined when there is no limit, or the server may not be asked. */
  readonly memory: ServerMemory | undefined;
  /** How many of the staged keys there are; undefined when that may not be asked. */
  readonly found: number | undefined;
}

/** Asks for the memory, and touches the lease and the staged keys. */
export async function askMemory(
  connection: RedisConnection,
  { lease }: Pick<RedisKeys, 'lease'>,
  stagingKeys: readonly string[] = [],
): Promise<MemoryReply> {
  const reply = (await connection.run(MEMORY, [lease, ...stagingKeys], [])) as [Buffer, number];
  const [text, found] = [String(reply[0]), reply[1]];
  const numberOf = (field: string) => Number(new RegExp(`^${field}:(\\d+)`, 'm').exec(text)?.[1] ?? 0);
  const limit = numberOf('maxmemory');
  const memory = limit > 0 && {
    used: numberOf('used_memory') - numberOf('mem_not_counted_for_evict'),
    limit,
    policy: /^maxmemory_policy:(\S+)/m.exec(text)?.[1] ?? '',
  };
  return { memory: memory || undefined, found: found < 0 ? undefined : found };
}

/** Whether the server makes room by removing keys that it chooses. */
export function evicts({ policy }: ServerMemory): boolean {
  return policy !== 'noeviction';
}

export function noMemoryError(what: string, cause?: unknown): BloomRebuildError {
  const retryAfterMs = RETRY_MS + Math.floor(Math.random() * RETRY_JITTER_MS);
  return new BloomRebuildError('no-memory', outOfMemory(what, retryAfterMs), { cause, retryAfterMs });
}

/** Waits for work on the server; a refusal for want of memory becomes a `BloomRebuildError` that says so. */
export async function explainNoMemory<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    const cause = describeError(error);
    if (error instanceof BloomRebuildError || !/\bOOM command not allowed/.test(cause)) throw error;
    throw noMemoryError(stepRefused(cause), error);
  }
}
