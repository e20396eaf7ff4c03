import type { Generation } from '../../../filter/index.js';
import type { RedisConnection } from '../client/redis-connection.js';
import { defineScripts } from '../client/script.js';
import { coreLua } from '../lua/core.generated.js';
import type { OfflineState } from '../meta/metadata-codec.js';
import { EXACT_FORMAT, LEASED_FORMAT, type RedisKeys } from '../meta/redis-keys.js';
import { publishStep, assertRefusal, type Refusal, runStep, RETIRED_LIFE_MS } from '../swap/rebuild-step.js';
import { PENDING } from '../meta/stored-meta.js';
import { MAX_SEGMENTS, SEGMENT_BYTES, type SegmentedGeneration, segmentLength } from '../staging/segments.js';
import type { NegativeCacheTable } from './negative-cache-table.js';
import { buildCountsSum, generationFields } from './blocked-meta.js';
import { newName } from './copies/copy-scripts.js';
import type { CopyWait } from './copies/copy-waits.js';

/** Ids, as the bits that they have in the live and in the staged generation. */
export interface BitsCommand {
  /** The tag in the metadata. */
  readonly storedTag: string;
  readonly stagingTag: string;
  readonly keys: readonly string[];
  readonly liveRecords: Buffer;
  readonly stagingRecords: Buffer;
}

export interface AddCommand extends BitsCommand {
  readonly marks?: NegativeCacheMarks | undefined;
  /** Left out of a filter that nobody reads with leases. */
  readonly copies?: AddForCopies | undefined;
}

/** What readers apply to their copies. */
export interface AddForCopies {
  /** The server as the caller knows it; '' when it may not be asked. */
  readonly runId: string;
  /** Block and seed of each id in the live generation, four bytes each, little-endian. */
  readonly places: Buffer;
  /** The reader of this process, whose copy has the ids already; '' for none. */
  readonly ownReader: string;
  /** As `places`, in the staged generation; empty for none. */
  readonly stagedPlaces: Buffer;
}

/** What an add marks in the table of the negative cache. */
export interface NegativeCacheMarks {
  readonly table: NegativeCacheTable;
  readonly lifeMs: number;
  /** Bucket of each id, four bytes, big-endian. */
  readonly buckets: Buffer;
}

export type AddReply =
  'NOMETA' | 'STALE' | 'LOST' | { flags: string; count: number | undefined; wait: CopyWait | undefined };

export type SwapReply = Refusal | { wait: CopyWait | undefined } | { earlyMs: number };

const WAITS = ['nothing', 'readers', 'time'] as const;
const NOTHING = Buffer.alloc(0);

/** The scripts of filters of layout `blocked`. */
export class BlockedScripts {
  private readonly scripts = defineScripts(coreLua, [
    'add',
    'offline',
    'publish',
    'remove',
    'swap',
    'withdraw',
  ]);

  constructor(private readonly connection: RedisConnection) {}

  async add(keys: RedisKeys, command: AddCommand): Promise<AddReply> {
    const { marks, copies } = command;
    const names = [keys.meta, ...command.keys];
    const args = [command.storedTag, command.stagingTag, command.liveRecords, command.stagingRecords];
    if (copies) names.push(keys.readers, keys.feed);
    if (marks) names.push(keys.negativeCache);
    if (marks) args.push(marks.table.text, String(marks.lifeMs), marks.buckets);
    if (copies && !marks) args.push(NOTHING, NOTHING, NOTHING);
    if (copies) args.push(copies.runId, copies.places, newName(), copies.ownReader, copies.stagedPlaces);
    const reply = await this.connection.run(this.scripts.add, names, args);
    if (!Array.isArray(reply)) return String(reply) as AddReply;
    const [flags, count, ...wait] = reply as [Buffer, number | null | undefined, ...unknown[]];
    return { flags: String(flags), count: count ?? undefined, wait: waitIn(wait) };
  }

  /** For each id of the live records, `1` when its bit was there. */
  async remove(
    keys: RedisKeys,
    command: BitsCommand,
  ): Promise<'NOMETA' | 'STALE' | 'LOST' | { flags: string }> {
    const { storedTag, stagingTag, liveRecords, stagingRecords } = command;
    const args = [storedTag, stagingTag, liveRecords, stagingRecords];
    const reply = String(await this.connection.run(this.scripts.remove, [keys.meta, ...command.keys], args));
    return /^[01]*$/.test(reply) ? { flags: reply } : (reply as 'NOMETA' | 'STALE' | 'LOST');
  }

  /** Retires the live segments; undefined when the metadata hold another tag. */
  async offline(
    keys: RedisKeys,
    options: {
      tag: string;
      state: OfflineState;
      segments?: number;
      token: string;
      nonsense?: boolean;
      builds: number;
      format: string;
      /** Longest lease of a reader that this process knows of; 0: none. */
      leaseMs: number;
    },
  ): Promise<{ state: OfflineState; retiredKeys: string[] } | undefined> {
    const { tag, state, token, builds, format, leaseMs } = options;
    const { segments = MAX_SEGMENTS, nonsense = false } = options;
    const indexes = Array.from({ length: segments }, (_, index) => index);
    const reply = await this.connection.run(
      this.scripts.offline,
      [
        keys.meta,
        keys.negativeCache,
        ...indexes.map(keys.segment),
        ...indexes.map((index) => keys.retired(token, index)),
      ],
      [tag, state, format, nonsense ? 1 : 0, builds, RETIRED_LIFE_MS, leaseMs, LEASED_FORMAT],
    );
    if (!Array.isArray(reply)) return undefined;
    const [set, ...moved] = reply as [Buffer, ...number[]];
    return {
      state: String(set) as OfflineState,
      retiredKeys: moved.map((index) => keys.retired(token, index)),
    };
  }

  async publish(
    keys: RedisKeys,
    options: {
      lease: string;
      token: string;
      runId: string;
      generation: Generation;
      fields: readonly string[];
      owner?: string | undefined;
      /** Formats that the metadata may have. */
      formats: readonly string[];
    },
  ): Promise<Refusal | 'OK'> {
    const { lease, token, runId, generation, fields, owner = '', formats } = options;
    const facts: (string | number)[] = ['pending.token', token, 'pending.count', 0, 'pending.runId', runId];
    // From then on a process that does not know the layout leaves the filter alone.
    if (generation.range) facts.push('format', EXACT_FORMAT);
    return publishStep(this.connection, this.scripts.publish, keys, {
      lease,
      runId,
      format: formats.join(' '),
      owner,
      makesMeta: false,
      fields: [...facts, ...fields, ...generationFields(generation, PENDING)],
    });
  }

  async swap(
    keys: RedisKeys,
    options: {
      lease: string;
      token: string;
      runId: string;
      staging: SegmentedGeneration;
      live: SegmentedGeneration | undefined;
      /** The tag in the metadata. */
      storedTag: string;
      /** That of the metadata afterwards; undefined: as it is. */
      format: string | undefined;
      /** For how long the staging has been published. */
      publishedMs: number;
      /** Longest lease of a reader that this process knows of; 0: none. */
      leaseMs: number;
      ids: number;
      capacity: number;
      errorRate: number;
      builtAt: number;
    },
  ): Promise<SwapReply> {
    const { lease, token, runId, staging, live, ids, capacity, errorRate, builtAt } = options;
    const { storedTag, publishedMs, leaseMs, format } = options;
    const count = staging.segments;
    const liveCount = live?.segments ?? 0;
    const each = (length: number, key: (index: number) => string) =>
      Array.from({ length }, (_, index) => key(index));
    const reply = await this.connection.run(
      this.scripts.swap,
      [
        keys.meta,
        keys.lease,
        ...each(count, staging.key),
        ...each(count, keys.segment),
        ...each(liveCount, keys.segment),
        ...each(liveCount, (index) => keys.retired(token, index)),
        keys.readers,
        keys.feed,
        keys.negativeCache,
      ],
      [
        lease,
        token,
        runId,
        storedTag,
        count,
        liveCount,
        SEGMENT_BYTES,
        segmentLength(staging.generation, count - 1),
        RETIRED_LIFE_MS,
        ids,
        Math.floor(publishedMs),
        leaseMs,
        newName(),
        ...generationFields(staging.generation),
        ...(format === undefined ? [] : ['format', format]),
        'runId',
        runId,
        'capacity',
        capacity,
        'errorRate',
        errorRate,
        'builtAt',
        builtAt,
        ...buildCountsSum(staging.generation, { ids, capacity, errorRate, builtAt }),
      ],
    );
    if (!Array.isArray(reply)) return assertRefusal(this.scripts.swap, String(reply));
    const [outcome, ...wait] = reply as [Buffer, ...unknown[]];
    return String(outcome) === 'EARLY' ? { earlyMs: Number(wait[0]) } : { wait: waitIn(wait) };
  }

  async withdraw(keys: RedisKeys, token: string): Promise<void> {
    await runStep(this.connection, this.scripts.withdraw, [keys.meta], [token]);
  }
}

/** What a script says of readers; nothing where nobody reads with leases. */
function waitIn(reply: readonly unknown[]): CopyWait | undefined {
  if (reply.length < 4) return undefined;
  const [kind, ms, number, list] = reply as [number, number, number, Buffer];
  return { for: WAITS[kind]!, ms, number, list: String(list) };
}
