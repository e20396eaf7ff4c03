import { randomBytes } from 'node:crypto';
import { BLOCKED_LAYOUT, createGeneration, type FilterPlan, type Generation } from 'nestjs-bloom/filter';
import {
  MAX_BLOCKS,
  MAX_ID_BYTES_LIMIT,
  type SegmentedGeneration,
  segmentedGeneration,
} from 'nestjs-bloom/internal';
import { planLayer, planLayerWithin, type ScalingTarget } from '../../scaling/growing-plan.js';
import type { StoredGeneration } from '../generation/generation-meta.js';
import type { GrowingKeys } from './growing-keys.js';

/** A generation of a filter that grows, and where its layers are. */
export interface ResolvedGrowing {
  readonly generation: StoredGeneration;
  readonly settings: GrowingSettings;
  /** The oldest first; the last one takes the ids. */
  readonly layers: readonly SegmentedGeneration[];
}

/** What the metadata hold of a generation. */
export interface GrowingSettings {
  /** The stored name of the target that the first layer was planned for. */
  readonly demand: ScalingTarget;
  readonly maxIdBytes: number;
  readonly layers: readonly LayerSettings[];
}

interface LayerSettings extends Pick<Generation, 'tag' | 'key' | 'blocks' | 'hashCount'> {
  /** Part of its keys. */
  readonly name: string;
  /** Ids it takes. */
  readonly capacity: number;
}

/** Between the name of a generation, which it keeps, and the number of its further layers in its token. */
const GROWN = '+';

/** A generation of one layer. */
export function firstGeneration(
  keys: GrowingKeys,
  { token, demand, maxIdBytes }: { token: string; demand: ScalingTarget; maxIdBytes: number },
): ResolvedGrowing {
  const layers = [layerSettings(planLayer(demand, 0)!, maxIdBytes)];
  // Each process has its own limit: one in the metadata would be that of the first process for good.
  const { maxCapacity: _, ...scaling } = demand.scaling ?? {};
  return resolved(keys, token, { demand: { ...demand, scaling }, maxIdBytes, layers });
}

/**
 * The same generation with a further layer; undefined when it can have none.
 *
 * @param maxCapacity ids that all layers together may be for
 */
export function grownGeneration(
  keys: GrowingKeys,
  from: ResolvedGrowing,
  maxCapacity: number,
): ResolvedGrowing | undefined {
  const { demand, maxIdBytes, layers } = from.settings;
  const plan = planLayerWithin(demand, layers.length, maxCapacity - capacityOf(from));
  if (plan === undefined) return undefined;
  const token = `${originOf(from.generation.token)}${GROWN}${layers.length}`;
  return resolved(keys, token, { demand, maxIdBytes, layers: [...layers, layerSettings(plan, maxIdBytes)] });
}

/** What the metadata say; undefined when it makes no sense. */
export function resolveGrowing(keys: GrowingKeys, generation: StoredGeneration): ResolvedGrowing | undefined {
  const settings = parsed(generation.settings);
  if (!settings || !isSound(settings)) return undefined;
  return { generation, settings, layers: segmented(keys, settings) };
}

/** The token that a generation began with. */
export function originOf(token: string): string {
  return token.split(GROWN)[0]!;
}

/** Ids that all layers take. */
export function capacityOf({ settings }: ResolvedGrowing): number {
  return settings.layers.reduce((sum, { capacity }) => sum + capacity, 0);
}

function resolved(keys: GrowingKeys, token: string, settings: GrowingSettings): ResolvedGrowing {
  const generation = { token, settings: JSON.stringify(settings), canaries: '' };
  return { generation, settings, layers: segmented(keys, settings) };
}

function segmented(keys: GrowingKeys, { maxIdBytes, layers }: GrowingSettings): SegmentedGeneration[] {
  return layers.map(({ name, tag, key, blocks, hashCount }) =>
    segmentedGeneration({ layout: BLOCKED_LAYOUT, tag, key, blocks, hashCount, maxIdBytes }, (index) =>
      keys.segment(name, index),
    ),
  );
}

function layerSettings(plan: FilterPlan, maxIdBytes: number): LayerSettings {
  const { tag, key, blocks, hashCount } = createGeneration(plan, maxIdBytes);
  return { name: randomBytes(8).toString('hex'), tag, key, blocks, hashCount, capacity: plan.capacity };
}

function parsed(text: string): GrowingSettings | undefined {
  try {
    return JSON.parse(text) as GrowingSettings;
  } catch {
    return undefined;
  }
}

/** A checksum stands beside the settings: this is against other software, not against damage. */
function isSound({ demand, maxIdBytes, layers }: GrowingSettings): boolean {
  const isCount = (value: number, most: number) => Number.isSafeInteger(value) && value >= 1 && value <= most;
  return (
    typeof demand === 'object' &&
    isCount(maxIdBytes, MAX_ID_BYTES_LIMIT) &&
    Array.isArray(layers) &&
    layers.length > 0 &&
    layers.every(
      ({ name, tag, key, blocks, hashCount, capacity }) =>
        /^[0-9a-f]{16}$/.test(name) &&
        isCount(tag, 2 ** 32 - 1) &&
        key.length === 2 &&
        isCount(blocks, MAX_BLOCKS) &&
        isCount(hashCount, 64) &&
        isCount(capacity, Number.MAX_SAFE_INTEGER),
    )
  );
}
