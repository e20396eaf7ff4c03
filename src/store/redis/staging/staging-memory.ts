import { type BloomEventListener, BloomRebuildError, describeError } from '../../../common/index.js';
import type { RedisConnection } from '../client/redis-connection.js';
import { defineScripts } from '../client/script.js';
import { coreLua } from '../lua/core.generated.js';
import {
  noRoomForStaging,
  othersNeedMemory,
  outOfMemory,
  stagingKeysEvicted,
  stepRefused,
} from '../meta/meta.messages.js';
import type { RedisKeys } from '../meta/redis-keys.js';

/** An allocator rounds a string up by a quarter at most: four sizes lie between two powers of two. */
const ROUNDED_UP = 1.25;
/** What has to stay free for others, as a share of the staged keys. */
const RESERVE = 1 / 3;
/** A rebuild gives way when others have left less of it than this share of the staged keys. */
const LEAST_RESERVE = 1 / 4;
/** Between two looks at a server with a limit, while something is staged. */
const LOOK_EVERY_MS = 1000;

export interface StagingMemoryOptions {
  readonly name: string;
  readonly emit: BloomEventListener;
  readonly keys: Pick<RedisKeys, 'lease'>;
  readonly connection: RedisConnection;
  /** Called once, when the rebuild has to give way. */
  readonly onShort: (error: BloomRebuildError) => void;
}

/**
 * The memory of one staging. It is asked for before anything is written; and while a server with `maxmemory`
 * holds the staged keys, every second it is asked whether others need it, and whether the staged keys are all
 * there.
 */
export class StagingMemory {
  private timer: NodeJS.Timeout | undefined;
  private looking = false;
  private claimed: number | undefined;
  /** As many staged keys as were seen at once. */
  private mostFound = 0;

  constructor(private readonly options: StagingMemoryOptions) {}

  /**
   * @param bytes what is going to be staged, with what the merge needs beside it.
   * @throws {BloomRebuildError} `no-memory` when it does not fit.
   */
  async claim(bytes: number): Promise<void> {
    const { connection, keys } = this.options;
    const { memory } = await askMemory(connection, keys);
    if (!memory) return;
    const stagingBytes = Math.ceil(bytes * ROUNDED_UP);
    assertFits(memory, stagingBytes);
    this.claimed = stagingBytes;
  }

  /** Looks after the keys until it is stopped, on a server with a limit. */
  watch(stagingKeys: () => readonly string[]): void {
    if (this.claimed === undefined) return;
    this.timer = setInterval(() => void this.look(stagingKeys()), LOOK_EVERY_MS);
    this.timer.unref();
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private async look(stagingKeys: readonly string[]): Promise<void> {
    if (this.looking) return;
    this.looking = true;
    const { connection, keys, emit, name } = this.options;
    try {
      const { memory, found = 0 } = await askMemory(connection, keys, stagingKeys);
      // It may have been stopped meanwhile, by a swap that renames the staged keys.
      if (!memory || !this.timer) return;
      const error = this.judge(memory, found);
      this.mostFound = Math.max(this.mostFound, found);
      if (!error) return;
      this.stop();
      this.options.onShort(error);
    } catch (error) {
      emit({ type: 'store-error', filter: name, operation: 'ask for the memory of the server', error });
    } finally {
      this.looking = false;
    }
  }

  private judge(memory: ServerMemory, found: number): BloomRebuildError | undefined {
    const { mostFound, claimed } = this;
    if (evicts(memory)) {
      return found >= mostFound
        ? undefined
        : noMemoryError(stagingKeysEvicted(mostFound - found, mostFound, memory));
    }
    const left = memory.limit - memory.used;
    return left >= claimed! * LEAST_RESERVE ? undefined : noMemoryError(othersNeedMemory(memory));
  }
}

/**
 * A server that evicts makes room for whatever is written, and a cache is full at all times: there only what
 * is too large for the whole server is refused.
 */
function assertFits(memory: ServerMemory, stagingBytes: number): void {
  const { used, limit } = memory;
  const needed = stagingBytes + Math.ceil(stagingBytes * RESERVE);
  if (needed <= (evicts(memory) ? limit : limit - used)) return;
  throw noMemoryError(noRoomForStaging(needed, memory));
}

const { memory: MEMORY } = defineScripts(coreLua, ['memory']);

/** Time until the next automatic attempt after memory was short. */
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
