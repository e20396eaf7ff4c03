import { BLOCKED_LAYOUT } from 'nestjs-bloom/filter';
import { type GenerationRole, TOKEN_FIELDS } from '../generation/layout-driver.js';
import { generationFields, liveFields } from '../generation/generation-meta.js';
import {
  defineScripts,
  type RedisConnection,
  type Refusal,
  runStep,
  wordIn,
  SEGMENT_BYTES,
  type SegmentedGeneration,
  segmentKeys,
  segmentLength,
} from 'nestjs-bloom/internal';
import { growingLua } from '../../lua/growing.generated.js';
import type { AddRecords } from './add-records.js';
import { capacityOf, type ResolvedGrowing } from './resolved-growing.js';
import type { GrowingKeys } from './growing-keys.js';

/** The number of the layout in the checksum over a generation. */
export const GROWING_LAYOUT = BLOCKED_LAYOUT;

export interface GrowingAddReply {
  /**
   * For each id whether it was not there before; the ids after these were not recorded, as there is no room
   * for them.
   */
  readonly added: boolean[];
  /** Ids of the newest live layer. */
  readonly inNewest: number;
}

/** One typed function for each script on filters that grow. */
export class GrowingScripts {
  private readonly scripts = defineScripts(growingLua, [
    'growingCheck',
    'growingAdd',
    'growingGrow',
    'growingSwap',
    'growingCount',
  ]);

  constructor(
    private readonly connection: RedisConnection,
    private readonly keys: GrowingKeys,
  ) {}

  /** The blocks that the records name; something else for one that is not there whole. */
  async check(
    { generation }: ResolvedGrowing,
    role: GenerationRole,
    asked: { keys: readonly string[]; records: Buffer },
  ): Promise<readonly unknown[] | 'STALE'> {
    const reply = await this.connection.runRead(this.scripts.growingCheck, asked.keys, [
      TOKEN_FIELDS[role],
      generation.token,
      asked.records,
    ]);
    return Array.isArray(reply) ? reply : 'STALE';
  }

  /** @param capacity ids that the newest live layer takes */
  async add(
    live: ResolvedGrowing | undefined,
    staging: ResolvedGrowing | undefined,
    { keys, liveRecords, stagingRecords, ids }: AddRecords,
    capacity: number,
  ): Promise<GrowingAddReply | 'STALE' | 'LOST'> {
    const reply = await this.connection.run(this.scripts.growingAdd, keys, [
      live?.generation.token ?? '',
      staging?.generation.token ?? '',
      packedLayers(live),
      packedLayers(staging),
      liveRecords,
      stagingRecords,
      capacity,
    ]);
    if (!Array.isArray(reply)) return wordIn(['STALE', 'LOST'], this.scripts.growingAdd, reply);
    const flags = String(reply[0]);
    const isRecorded = live !== undefined || staging !== undefined;
    const added = Array.from({ length: isRecorded ? flags.length : ids }, (_, i) => flags[i] !== '0');
    return { added, inNewest: Number(reply[1]) };
  }

  async grow(grown: ResolvedGrowing, options: { lease: string; before: string }): Promise<Refusal | 'OK'> {
    const { lease, before } = options;
    const newest = grown.layers.at(-1)!;
    return runStep(
      this.connection,
      this.scripts.growingGrow,
      [this.keys.meta, this.keys.lease, ...segmentKeys([newest])],
      [
        lease,
        before,
        ...lengths(newest),
        `layer.${grown.layers.length - 1}`,
        ...generationFields(grown.generation, GROWING_LAYOUT),
        'capacity',
        capacityOf(grown),
      ],
    );
  }

  async swap(
    staging: ResolvedGrowing,
    options: {
      lease: string;
      runId: string;
      live: ResolvedGrowing | undefined;
      ids: number;
      builtAt: number;
    },
  ): Promise<Refusal | 'OK'> {
    const { lease, runId, live, ids, builtAt } = options;
    return runStep(
      this.connection,
      this.scripts.growingSwap,
      [this.keys.meta, this.keys.lease, ...segmentKeys(staging.layers), ...segmentKeys(live?.layers ?? [])],
      [
        lease,
        staging.generation.token,
        runId,
        live?.generation.token ?? '',
        ...lengths(staging.layers[0]!),
        ids,
        segmentKeys(staging.layers).length,
        ...liveFields(staging.generation, GROWING_LAYOUT, {
          runId,
          ids,
          capacity: capacityOf(staging),
          errorRate: staging.settings.demand.errorRate,
          builtAt,
        }),
      ],
    );
  }

  /** Ids in each layer; undefined when the live generation is another one, or has another layer. */
  async count({ generation, layers }: ResolvedGrowing): Promise<number[] | undefined> {
    const fields = layers.map((_, index) => `layer.${index}`);
    const reply = await this.connection.run(
      this.scripts.growingCount,
      [this.keys.meta],
      [generation.token, ...fields],
    );
    return Array.isArray(reply) ? reply.map((ids) => Number(ids ?? 0) || 0) : undefined;
  }
}

function lengths({ generation, segments }: SegmentedGeneration): [number, number] {
  return [SEGMENT_BYTES, segmentLength(generation, segments - 1)];
}

function packedLayers(resolved: ResolvedGrowing | undefined): Buffer {
  const layers = resolved?.layers ?? [];
  const packed = Buffer.allocUnsafe(layers.length * 5);
  layers.forEach(({ generation }, index) => {
    packed.writeUInt8(generation.hashCount, packed.writeUInt32LE(generation.tag, index * 5));
  });
  return packed;
}
