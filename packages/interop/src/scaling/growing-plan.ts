import { BloomConfigError, type FilterPlan, type FilterTarget, modelledErrorRate } from 'nestjs-bloom/filter';
import {
  anyError,
  checkInteger,
  checkOptions,
  checkTarget,
  MIN_ERROR_RATE,
  type OptionNames,
  planBlocked,
} from 'nestjs-bloom/internal';
import { plannerOf } from '../layout-plan.js';
import { maxCapacityTooSmall, wrongTightening } from './growing.messages.js';

/** How a filter grows when it is full. */
export interface ScalingOptions {
  /** Capacity of a further layer, as a multiple of the last one's: an integer from 1 to 1024. Default 2. */
  readonly expansion?: number | undefined;
  /** Error rate of a further layer, as a multiple of the last one's: above 0 and below 1. Default 0.8. */
  readonly tightening?: number | undefined;
  /**
   * Ids that all layers together are made for, at least `capacity`: the last layer is cut to it, and no
   * further one is opened. Ids beyond it go into the last layer, where the error rate rises, or are refused
   * by a `ScalableFilter`. Default of a filter of the module: 100,000,000, or 10 times its capacity when that
   * is more; of a `ScalableFilter` none.
   */
  readonly maxCapacity?: number | undefined;
}

/** What a filter is planned for whose size nobody knows. */
export interface ScalingTarget extends FilterTarget {
  /** Ids of the first layer. */
  readonly capacity: number;
  /** Share of absent ids answered "maybe", over all layers. */
  readonly errorRate: number;
  readonly scaling?: ScalingOptions | undefined;
}

const DEFAULT_EXPANSION = 2;
const MAX_EXPANSION = 1024;
/**
 * P. Almeida, C. Baquero, N. Preguiça, D. Hutchison, "Scalable Bloom Filters" (2007), recommend 0.8 to 0.9
 * where capacities double. With 0.5 an id would cost 1.4 bits more in each further layer, and a filter for
 * 0.1 % could not have more than ten layers.
 */
const DEFAULT_TIGHTENING = 0.8;

/**
 * The layer of this index, counted from 0; undefined when it would take the filter above its error rate or
 * `maxCapacity`, or exceed 4 GiB.
 *
 * Layer i is for capacity · expansion^i ids at e(i) = errorRate · (1 - tightening) · tightening^i. All e(i)
 * together are at most errorRate, and so is the chance that an absent id passes one of the layers. Where e(i)
 * falls below what a blocked filter can have, layers have the lowest it can, for as long as all together
 * allow it. The last layer before `maxCapacity` takes what is left to it.
 *
 * @throws {BloomConfigError} when not even the first layer can be made.
 */
export function planLayer(target: ScalingTarget, index: number): FilterPlan | undefined {
  checkTarget(target);
  checkInteger('index', index, { min: 0, max: Number.MAX_SAFE_INTEGER });
  const { expansion, maxCapacity = Infinity } = checkedScaling(target.scaling);
  if (maxCapacity < target.capacity) {
    throw new BloomConfigError(maxCapacityTooSmall(target.capacity, maxCapacity));
  }
  let before = 0;
  for (let i = 0; i < index && before < maxCapacity; i++) before += target.capacity * expansion ** i;
  return planLayerWithin(target, index, maxCapacity === Infinity ? Infinity : maxCapacity - before);
}

/**
 * The same for layers of other capacities before it, with room for so many further ids, whatever
 * `maxCapacity` the target has.
 *
 * @throws {BloomConfigError} when not even the first layer can be made.
 */
export function planLayerWithin(target: ScalingTarget, index: number, room: number): FilterPlan | undefined {
  if (room < 1) return undefined;
  const { expansion, tightening } = checkedScaling(target.scaling);
  let errorRate = 0;
  let sum = 0;
  for (let i = 0; i <= index; i++) {
    errorRate = Math.max(target.errorRate * (1 - tightening) * tightening ** i, MIN_ERROR_RATE);
    sum += errorRate;
    if (i > 0 && sum > target.errorRate) return undefined;
  }
  const layer = { capacity: Math.min(target.capacity * expansion ** index, room), errorRate };
  if (index === 0) return planBlocked(layer);
  try {
    return planBlocked(layer);
  } catch (error) {
    if (error instanceof BloomConfigError) return undefined;
    throw error;
  }
}

/** The chance that an absent id passes one of the layers that a filter has when it holds `ids` ids. */
function layersErrorRate(target: ScalingTarget, ids: number): number {
  const layers: (FilterPlan & { ids: number })[] = [];
  let rest = ids;
  for (let index = 0, plan = planLayer(target, 0)!; rest > 0; index++) {
    const next = planLayer(target, index + 1);
    // The last layer takes all that are left.
    const here = next === undefined ? rest : Math.min(rest, plan.capacity);
    layers.push({ ...plan, ids: here });
    rest -= here;
    plan = next ?? plan;
  }
  return stackErrorRate(layers);
}

/** The chance that an absent id passes one of several layers. */
export function stackErrorRate(
  layers: readonly { readonly hashCount: number; readonly blocks: number; readonly ids: number }[],
): number {
  return anyError(
    layers.map(({ hashCount, blocks, ids }) => modelledErrorRate({ hashCount, idsPerBlock: ids / blocks })),
  );
}

const OPTIONS = {
  expansion: true,
  tightening: true,
  maxCapacity: true,
} satisfies OptionNames<ScalingOptions>;

/** @throws {BloomConfigError} for options that cannot work. */
export function checkScaling(scaling: ScalingOptions): void {
  checkOptions(scaling, { where: 'scaling()', known: OPTIONS });
  checkedScaling(scaling);
}

/**
 * With the defaults filled in.
 *
 * @throws {BloomConfigError}
 */
function checkedScaling(scaling: ScalingOptions | undefined) {
  const { expansion = DEFAULT_EXPANSION, tightening = DEFAULT_TIGHTENING, maxCapacity } = scaling ?? {};
  checkInteger('expansion', expansion, { min: 1, max: MAX_EXPANSION });
  if (maxCapacity !== undefined) {
    checkInteger('maxCapacity', maxCapacity, { min: 1, max: Number.MAX_SAFE_INTEGER });
  }
  if (tightening > 0 && tightening < 1) return { expansion, tightening, maxCapacity };
  throw new BloomConfigError(wrongTightening(tightening));
}

/**
 * Plans the first layer of filters that grow; the expected error rate is over all layers that they then have.
 */
export const scalingPlanner = plannerOf<ScalingOptions>({
  kind: 'scaling',
  size: (target, scaling) => {
    const { bytes, hashCount } = planLayer({ ...target, scaling }, 0)!;
    return { bits: bytes * 8, hashCount };
  },
  errorRate: ({ layout, capacity, errorRate }, ids) =>
    layersErrorRate({ capacity, errorRate, scaling: layout }, ids),
});
