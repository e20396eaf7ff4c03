import type { Generation } from '../../../filter/index.js';
import type { RedisConnection } from '../client/redis-connection.js';
import { defineScripts, type LuaSources } from '../client/script.js';
import { coreLua } from '../lua/core.generated.js';
import type { OfflineState } from '../protocol/metadata-codec.js';
import { publishStep } from '../protocol/publish-step.js';
import { type Refusal, runStep } from '../protocol/refusal.js';
import type { RedisKeys } from '../protocol/redis-keys.js';
import { PENDING } from '../protocol/stored-meta.js';
import {
  MAX_SEGMENTS,
  SEGMENT_BYTES,
  type SegmentedGeneration,
  segmentLength,
  tagText,
} from '../protocol/segments/segments.js';
import type { NegativeCacheTable } from './negative-cache/negative-cache-table.js';
import { buildCountsSum, generationFields } from './blocked-meta.js';
import { RETIRED_LIFE_MS } from '../protocol/limits.js';

export interface AddCommand {
  readonly liveTag: string;
  readonly stagingTag: string;
  readonly keys: readonly string[];
  readonly liveRecords: Buffer;
  readonly stagingRecords: Buffer;
  readonly marks?: NegativeCacheMarks | undefined;
}

/** What an add marks in the table of the negative cache. */
export interface NegativeCacheMarks {
  readonly table: NegativeCacheTable;
  readonly lifeMs: number;
  /** Of each id, four bytes, big-endian. */
  readonly buckets: Buffer;
}

export type AddReply = 'NOMETA' | 'STALE' | 'LOST' | { flags: string; count: number | undefined };

/** The scripts of filters of layout `blocked`. */
export class BlockedScripts {
  private readonly scripts;

  constructor(
    private readonly connection: RedisConnection,
    sources?: LuaSources,
  ) {
    this.scripts = defineScripts(coreLua, ['add', 'offline', 'publish', 'swap', 'withdraw'], sources);
  }

  async add(keys: RedisKeys, command: AddCommand): Promise<AddReply> {
    const { marks } = command;
    const reply = await this.connection.run(
      this.scripts.add,
      marks ? [keys.meta, ...command.keys, keys.negativeCache] : [keys.meta, ...command.keys],
      [
        command.liveTag,
        command.stagingTag,
        command.liveRecords,
        command.stagingRecords,
        ...(marks ? [marks.table.text, marks.lifeMs, marks.buckets] : []),
      ],
    );
    if (!Array.isArray(reply)) return String(reply) as AddReply;
    const [flags, count] = reply as [Buffer, number | undefined];
    return { flags: String(flags), count };
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
    },
  ): Promise<{ state: OfflineState; retiredKeys: string[] } | undefined> {
    const { tag, state, segments = MAX_SEGMENTS, token, nonsense = false, builds, format } = options;
    const indexes = Array.from({ length: segments }, (_, index) => index);
    const reply = await this.connection.run(
      this.scripts.offline,
      [
        keys.meta,
        keys.negativeCache,
        ...indexes.map((index) => keys.segment(index)),
        ...indexes.map((index) => keys.retired(token, index)),
      ],
      [tag, state, format, nonsense ? 1 : 0, builds, RETIRED_LIFE_MS],
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
      owner?: string | undefined;
      format: string;
    },
  ): Promise<Refusal | 'OK'> {
    const { lease, token, runId, generation, owner = '', format } = options;
    const facts = ['pending.token', token, 'pending.count', 0, 'pending.runId', runId];
    return publishStep(this.connection, this.scripts.publish, keys, {
      lease,
      runId,
      format,
      owner,
      makesMeta: false,
      fields: [...facts, ...generationFields(generation, PENDING)],
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
      ids: number;
      capacity: number;
      errorRate: number;
      builtAt: number;
    },
  ): Promise<Refusal | 'OK'> {
    const { lease, token, runId, staging, live, ids, capacity, errorRate, builtAt } = options;
    const count = staging.segments;
    const liveCount = live?.segments ?? 0;
    const each = (length: number, key: (index: number) => string) =>
      Array.from({ length }, (_, index) => key(index));
    return runStep(
      this.connection,
      this.scripts.swap,
      [
        keys.meta,
        keys.lease,
        ...each(count, staging.key),
        ...each(count, (index) => keys.segment(index)),
        ...each(liveCount, (index) => keys.segment(index)),
        ...each(liveCount, (index) => keys.retired(token, index)),
        keys.negativeCache,
      ],
      [
        lease,
        token,
        runId,
        tagText(live?.generation),
        count,
        liveCount,
        SEGMENT_BYTES,
        segmentLength(staging.generation, count - 1),
        RETIRED_LIFE_MS,
        ids,
        ...generationFields(staging.generation),
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
  }

  async withdraw(keys: RedisKeys, token: string): Promise<void> {
    await runStep(this.connection, this.scripts.withdraw, [keys.meta], [token]);
  }
}
