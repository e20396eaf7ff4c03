import { BLOCKED_LAYOUT, type FilterTarget } from 'nestjs-bloom/filter';
import type { MemoryLayout, RedisLayout } from 'nestjs-bloom/internal';
import type { BloomLayout } from 'nestjs-bloom/store';
import { openGrowingInMemory } from '../memory/growing-in-memory.js';
import { openGrowing } from '../redis/growing/open-growing.js';
import { checkScaling, type ScalingOptions, scalingPlanner } from './growing-plan.js';

/** 250 to 320 MiB at the default error rate. Creates that fail must not fill the memory of Redis. */
const LEAST_MAX_CAPACITY = 100_000_000;

/** The options with the default of `maxCapacity` for a filter of this capacity. */
export function withMaxCapacity(options: ScalingOptions, capacity: number): ScalingOptions {
  const tenfold = Math.min(Math.floor(10 * capacity), Number.MAX_SAFE_INTEGER);
  // The capacity may be invalid here: a later check refuses it with an error of its own.
  const { maxCapacity = tenfold > LEAST_MAX_CAPACITY ? tenfold : LEAST_MAX_CAPACITY } = options;
  return { ...options, maxCapacity };
}

/**
 * The layout of a filter that grows, for ids that no source knows and whose number nobody knows: a full
 * filter grows by a layer of `expansion` times the capacity and `tightening` times the error rate; all layers
 * together stay within the `errorRate` of the filter. See `ScalableFilter`.
 *
 * @throws {BloomConfigError} for an option that cannot work, or that it does not have.
 */
export const scaling = Object.assign(function scaling(options: ScalingOptions = {}): BloomLayout {
  checkScaling(options);
  return scalingLayout(options);
}, scalingPlanner);

function scalingLayout(options: ScalingOptions): MemoryLayout & RedisLayout {
  const bytes = ({ capacity, errorRate }: FilterTarget) =>
    scalingPlanner.plan({ ...withMaxCapacity(options, capacity), capacity, errorRate }).bytes;
  return {
    kind: 'scaling',
    // Its layers are of that layout.
    number: BLOCKED_LAYOUT,
    hasFixedSize: false,
    isMadeByOthers: false,
    waitsForAdopt: false,
    grows: true,
    canRemove: false,
    claimedKey: undefined,
    check: (use) => void bytes(use),
    bytes,
    openInMemory: (context) => openGrowingInMemory(context, withMaxCapacity(options, context.plan.capacity)),
    openRedis: (context) => openGrowing(context, withMaxCapacity(options, context.plan.capacity)),
  };
}
