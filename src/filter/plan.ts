import { BloomConfigError, printed } from '../common/index.js';
import { checkDemand, checkInteger, type Demand, type Geometry } from './peers/bits/geometry.js';
import { cuckooErrorRate } from './peers/cuckoo/cuckoo-model.js';
import { planCuckoo } from './peers/cuckoo/cuckoo-plan.js';
import { cuckooSize } from './peers/cuckoo/cuckoo-size.js';
import { passRate } from './error-model.js';
import { goZeroSize } from './peers/go-zero/go-zero-size.js';
import { guavaSize } from './peers/guava/guava-size.js';
import { LAYOUT_NUMBERS, type LayoutKind } from './peers/layout-numbers.js';
import { chainErrorRate } from './peers/redisbloom/chain-model.js';
import { chainOf, linkSize } from './peers/redisbloom/redisbloom-size.js';
import { redissonSize } from './peers/redisson/redisson-size.js';
import { layersErrorRate, planLayer, type ScalingOptions } from './scaling/scaling-plan.js';
import { BLOCK_BYTES, type FilterPlan, modelledErrorRate, planBlocked } from './sizing.js';
import { springSize } from './peers/spring/spring-size.js';

/** What a filter is planned for, and by whose rules. */
export interface PlanOptions {
  /** Ids the filter is to hold. */
  readonly capacity: number;
  /** Share of absent ids answered "maybe", at capacity. */
  readonly errorRate: number;
  /** Default `blocked`. An object may carry what else the layout needs; what counts for the size is in `LayoutChoice`. */
  readonly layout?: LayoutKind | LayoutChoice | undefined;
}

/** A layout, and what its size depends on beside capacity and error rate. */
export interface LayoutChoice {
  readonly kind: LayoutKind;
  /** Of `redisbloom` and `cuckoo`: see `BF.RESERVE` and `CF.RESERVE`. */
  readonly expansion?: number | undefined;
  /** Of `redisbloom`: see `BF.RESERVE`. */
  readonly nonScaling?: boolean | undefined;
  /** Of `cuckoo`: see `CF.RESERVE`. Default: that of the smallest filter, which the plan then names. */
  readonly bucketSize?: number | undefined;
  /** Of `cuckoo`: see `CF.RESERVE`. */
  readonly maxIterations?: number | undefined;
  /** Of `blocked`: a filter that grows by layers, of which the plan shows the first. */
  readonly scaling?: ScalingOptions | undefined;
}

/** The size of a filter in a layout that was named. */
export interface LayoutPlan {
  readonly layout: LayoutChoice;
  /** Ids the filter holds at its error rate. */
  readonly capacity: number;
  /** Share of absent ids answered "maybe" that was asked for. */
  readonly errorRate: number;
  /** The same as the model gives it at capacity. */
  readonly modelledErrorRate: number;
  /** Bits set for an id (k); of `cuckoo`, the buckets it may be in. */
  readonly hashCount: number;
  readonly bits: number;
  readonly bytes: number;
  readonly bitsPerId: number;
}

/**
 * The size of a filter as its peer would choose it.
 *
 * Peers round: the modelled error rate may be a little above the one asked for. One of RedisBloom is of its first link, which holds
 * `capacity` ids. A cuckoo filter has a power of two of buckets; `CF.RESERVE` takes its `bytes` as the capacity.
 *
 * @throws {BloomConfigError} when the peer, or this library, cannot make such a filter.
 */
export function planFilter(options: {
  readonly capacity: number;
  readonly errorRate: number;
  readonly layout?: undefined;
}): FilterPlan;
export function planFilter(options: PlanOptions): LayoutPlan;
export function planFilter({ capacity, errorRate, layout }: PlanOptions): FilterPlan | LayoutPlan {
  if (layout === undefined) return planBlocked({ capacity, errorRate });
  const chosen = typeof layout === 'string' ? { kind: layout } : layout;
  checkDemand({ capacity, errorRate });
  const { bits, hashCount, ...found } = sizeOf({ capacity, errorRate }, chosen);
  const bytes = Math.ceil(bits / 8);
  const plan = {
    layout: { ...chosen, ...found },
    capacity,
    errorRate,
    hashCount,
    bits,
    bytes,
    bitsPerId: bits / capacity,
  };
  return { ...plan, modelledErrorRate: modelled(plan, capacity) };
}

/**
 * Share of absent ids answered "maybe" by a filter of this plan that holds `ids` ids.
 *
 * @throws {BloomConfigError} when `ids` is negative or no integer.
 */
export function expectedErrorRate(plan: FilterPlan | LayoutPlan, ids: number): number {
  checkInteger('ids', ids, { min: 0, max: Number.MAX_SAFE_INTEGER });
  return 'layout' in plan
    ? modelled(plan, ids)
    : modelledErrorRate({ hashCount: plan.hashCount, idsPerBlock: ids / plan.blocks });
}

/** Bits and hash count, and what was chosen beside them. */
function sizeOf(demand: Demand, choice: LayoutChoice): Geometry & Omit<Partial<LayoutChoice>, 'kind'> {
  switch (choice.kind) {
    case 'blocked': {
      const { scaling } = choice;
      const { bytes, hashCount } =
        scaling === undefined ? planBlocked(demand) : planLayer({ ...demand, scaling }, 0)!;
      return { bits: bytes * 8, hashCount };
    }
    case 'cuckoo': {
      const { buckets, bucketSize } = planCuckoo(demand, choice);
      return { bits: buckets * bucketSize * 8, hashCount: 2, bucketSize };
    }
    case 'go-zero':
      return goZeroSize(demand);
    case 'guava':
      return guavaSize(demand);
    case 'redisson':
      return redissonSize(demand);
    case 'redisbloom':
      return linkSize(chainOf({ ...choice, ...demand }).first);
    case 'spring':
      return springSize(demand);
    default:
      throw new BloomConfigError(
        `Expected a layout of ${Object.keys(LAYOUT_NUMBERS).join(', ')}, got ${printed(choice.kind)}. Choose one of them.`,
      );
  }
}

function modelled(plan: Omit<LayoutPlan, 'modelledErrorRate'>, ids: number): number {
  const { layout, bits, hashCount } = plan;
  if (layout.kind === 'redisbloom') return chainErrorRate({ ...layout, ...plan }, ids);
  if (layout.kind === 'cuckoo') return cuckooErrorRate(cuckooSize({ ...layout, capacity: bits / 8 }), ids);
  if (layout.kind !== 'blocked') return passRate({ bits, hashCount, ids });
  if (layout.scaling !== undefined) return layersErrorRate({ ...plan, scaling: layout.scaling }, ids);
  return modelledErrorRate({ hashCount, idsPerBlock: ids / (bits / (BLOCK_BYTES * 8)) });
}
