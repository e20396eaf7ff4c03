import { BLOCKED_LAYOUT, type FilterTarget } from 'nestjs-bloom/filter';
import type { BloomLayout } from 'nestjs-bloom/store';
import { checkScaling, scalingPlanner, type ScalingOptions } from '../growing/index.js';
import { openGrowingInMemory } from '../memory/growing/index.js';
import type { MemoryLayout, RedisLayout } from 'nestjs-bloom/internal';
import { openGrowing } from '../redis/growing/index.js';
import { withMaxCapacity } from './max-capacity.js';

/**
 * The layout of a filter that grows, for ids that no source knows and whose number nobody knows: a full filter grows by a layer of
 * `expansion` times the capacity and `tightening` times the error rate; all layers together stay within the `errorRate` of the filter.
 * See `ScalableFilter`.
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
