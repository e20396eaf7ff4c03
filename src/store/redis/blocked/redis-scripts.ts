import { BloomUnavailableError } from '../../../common/index.js';
import type { Generation } from '../../../filter/index.js';
import type { DenialTableName } from './denials/denial-table-name.js';
import { buildCountsSum, FORMAT, generationFields, tagText } from './filter-meta.js';
import { LeaseScripts } from '../protocol/lease-scripts.js';
import { type RedisConnection, Script } from '../client/redis-connection.js';
import type { RedisKeys } from '../protocol/redis-keys.js';
import { luaSources } from '../scripts.generated.js';
import {
  MAX_SEGMENTS,
  SEGMENT_BYTES,
  type SegmentedGeneration,
  segmentLength,
} from '../protocol/segments/segments.js';

/** Lua of every script, by name; another set may be passed in by a test that takes a safety out. */
export type LuaSources = { readonly [Name in keyof typeof luaSources]: { readonly source: string } };

/** Life of segments that were moved aside: they are removed long before, unless the process dies. */
const ASIDE_LIFE_MS = 60_000;

/** `unbuilt` becomes `lost` when there is a live segment. */
export type OfflineState = 'unbuilt' | 'lost' | 'suspect';

const PROBE_LIFE_MS = 10_000;

/** Why a step of a rebuild was refused. */
export type Refusal = 'OWNER' | 'LEASE' | 'NOMETA' | 'FORMAT' | 'SERVER' | 'STALE' | 'LENGTH';

export interface AddCommand {
  readonly liveTag: string;
  readonly stagedTag: string;
  readonly keys: readonly string[];
  readonly liveRecords: Buffer;
  readonly stagedRecords: Buffer;
  readonly marks?: DenialMarks | undefined;
}

/** What an add marks in the table of denials. */
export interface DenialMarks {
  readonly denials: DenialTableName;
  readonly lifeMs: number;
  /** Of each id, four bytes, big-endian. */
  readonly buckets: Buffer;
}

export type AddReply = 'NOMETA' | 'STALE' | 'LOST' | { flags: string; count: number | undefined };

/** One typed function for each script on filters of layout `blocked`, and what other layouts share with them. */
export class RedisScripts {
  readonly lease: LeaseScripts;
  private readonly script: Record<keyof LuaSources, Script>;

  constructor(
    readonly connection: RedisConnection,
    sources: LuaSources = luaSources,
  ) {
    const scripts = Object.entries(sources).map(([name, { source }]) => [name, new Script(name, source)]);
    this.script = Object.fromEntries(scripts) as Record<keyof LuaSources, Script>;
    this.lease = new LeaseScripts(connection, sources);
  }

  /** Longest time that an add waits for the server. */
  get writeTimeoutMs(): number {
    return this.connection.writeTimeoutMs;
  }

  /** @param isRunKnown leaves out which run of the server answers: it costs the server more than all the rest. */
  async describe(
    meta: string,
    isRunKnown: boolean,
  ): Promise<{ runId: string; type: string; fields: string[] }> {
    const reply = await this.connection.run(this.script.describe, [meta], [isRunKnown ? 1 : 0]);
    const [runId = '', type = 'none', ...fields] = (reply as Buffer[]).map(String);
    return { runId, type, fields };
  }

  /** The blocks that the records name; something else for one that is not there whole. */
  async check(segmentKeys: readonly string[], records: Buffer): Promise<readonly unknown[]> {
    return (await this.connection.runRead(this.script.check, segmentKeys, [records])) as unknown[];
  }

  async add(keys: RedisKeys, command: AddCommand): Promise<AddReply> {
    const { marks } = command;
    const reply = await this.connection.run(
      this.script.add,
      marks ? [keys.meta, ...command.keys, keys.denials] : [keys.meta, ...command.keys],
      [
        command.liveTag,
        command.stagedTag,
        command.liveRecords,
        command.stagedRecords,
        ...(marks ? [marks.denials.text, marks.lifeMs, marks.buckets] : []),
      ],
    );
    if (!Array.isArray(reply)) return String(reply) as AddReply;
    const [flags, count] = reply as [Buffer, number | undefined];
    return { flags: String(flags), count };
  }

  /** Moves the live segments aside; returns the state that was set and the keys that are left to remove. */
  async offline(
    keys: RedisKeys,
    options: {
      tag: string;
      state: OfflineState;
      segments?: number;
      token: string;
      nonsense?: boolean;
      builds: number;
    },
  ): Promise<'STALE' | { state: string; aside: string[] }> {
    const { tag, state, segments = MAX_SEGMENTS, token, nonsense = false, builds } = options;
    const indexes = Array.from({ length: segments }, (_, index) => index);
    const reply = await this.connection.run(
      this.script.offline,
      [
        keys.meta,
        keys.denials,
        ...indexes.map((index) => keys.segment(index)),
        ...indexes.map((index) => keys.aside(token, index)),
      ],
      [segments, tag, state, FORMAT, ASIDE_LIFE_MS, nonsense ? 1 : 0, builds],
    );
    if (!Array.isArray(reply)) return 'STALE';
    const [set, ...moved] = reply as [Buffer, ...number[]];
    return { state: String(set), aside: moved.map((index) => keys.aside(token, index)) };
  }

  async stage(
    keys: Pick<RedisKeys, 'lease'>,
    options: {
      lease: string;
      segment: string;
      generation: Generation;
      from: number;
      blocks: number;
      lifeMs: number;
    },
  ): Promise<Refusal | 'OK'> {
    const { lease, segment, generation, from, blocks, lifeMs } = options;
    return this.step(
      this.script.stage,
      [keys.lease, segment],
      [lease, tagText(generation), from, blocks, lifeMs],
    );
  }

  async publish(
    keys: RedisKeys,
    options: {
      lease: string;
      token: string;
      runId: string;
      generation: Generation;
      owner?: string | undefined;
    },
  ): Promise<Refusal | 'OK'> {
    const { lease, token, runId, generation, owner = '' } = options;
    return this.step(
      this.script.publish,
      [keys.meta, keys.lease],
      [
        lease,
        runId,
        FORMAT,
        owner,
        'pending.token',
        token,
        'pending.runId',
        runId,
        ...generationFields(generation, 'pending.'),
      ],
    );
  }

  async load(
    keys: Pick<RedisKeys, 'lease'>,
    options: { lease: string; scratch: string; from: number; piece: Buffer; lifeMs: number },
  ): Promise<Refusal | 'OK'> {
    const { lease, scratch, from, piece, lifeMs } = options;
    return this.step(this.script.load, [keys.lease, scratch], [lease, from, piece, lifeMs]);
  }

  async merge(
    keys: Pick<RedisKeys, 'lease'>,
    options: { lease: string; segment: string; scratch: string; length: number; lifeMs: number },
  ): Promise<Refusal | 'OK'> {
    const { lease, segment, scratch, length, lifeMs } = options;
    return this.step(this.script.merge, [keys.lease, segment, scratch], [lease, length, lifeMs]);
  }

  async swap(
    keys: RedisKeys,
    options: {
      lease: string;
      token: string;
      runId: string;
      staged: SegmentedGeneration;
      old: SegmentedGeneration | undefined;
      ids: number;
      capacity: number;
      errorRate: number;
      builtAt: number;
    },
  ): Promise<Refusal | 'OK'> {
    const { lease, token, runId, staged, old, ids, capacity, errorRate, builtAt } = options;
    const count = staged.segments;
    const oldCount = old?.segments ?? 0;
    const each = (length: number, key: (index: number) => string) =>
      Array.from({ length }, (_, index) => key(index));
    return this.step(
      this.script.swap,
      [
        keys.meta,
        keys.lease,
        ...each(count, staged.key),
        ...each(count, (index) => keys.segment(index)),
        ...each(oldCount, (index) => keys.segment(index)),
        ...each(oldCount, (index) => keys.aside(token, index)),
        keys.denials,
      ],
      [
        lease,
        token,
        runId,
        tagText(old?.generation),
        count,
        oldCount,
        SEGMENT_BYTES,
        segmentLength(staged.generation, count - 1),
        ASIDE_LIFE_MS,
        ids,
        ...generationFields(staged.generation),
        'runId',
        runId,
        'capacity',
        capacity,
        'errorRate',
        errorRate,
        'builtAt',
        builtAt,
        ...buildCountsSum(staged.generation, { ids, capacity, errorRate, builtAt }),
      ],
    );
  }

  async withdraw(keys: RedisKeys, token: string): Promise<void> {
    await this.step(this.script.withdraw, [keys.meta], [token]);
  }

  /** What the server refuses of all that the scripts need, and its set-up as INFO tells it. */
  async inspect(
    keys: Pick<RedisKeys, 'probe'>,
  ): Promise<{ forbidden: string[]; info: ReadonlyMap<string, string> }> {
    const probes = [keys.probe, `${keys.probe}:renamed`, `${keys.probe}:hash`];
    const reply = await this.connection.run(this.script.inspect, probes, [PROBE_LIFE_MS]);
    const [forbidden, info] = reply as [Buffer[], Buffer];
    const lines = String(info)
      .split('\r\n')
      .filter((line) => line.includes(':'));
    return {
      forbidden: forbidden.map(String),
      info: new Map(
        lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
      ),
    };
  }

  private async step(
    script: Script,
    keys: readonly string[],
    args: readonly (string | number | Buffer)[],
  ): Promise<Refusal | 'OK'> {
    const reply = String(await this.connection.run(script, keys, args));
    if (REPLIES.has(reply)) return reply as Refusal | 'OK';
    throw new BloomUnavailableError(`Redis answered '${reply}' to the script '${script.name}'.`);
  }
}

const REPLIES = new Set<string>([
  'OK',
  'OWNER',
  'LEASE',
  'NOMETA',
  'FORMAT',
  'SERVER',
  'STALE',
  'LENGTH',
] satisfies (Refusal | 'OK')[]);
