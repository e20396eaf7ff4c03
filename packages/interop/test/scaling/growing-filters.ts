import { cuckoo, type CuckooTarget } from '../../src/index.js';
import { ScalableFilter, type ScalingTarget } from '../../src/scaling/index.js';

export interface GrowthRates {
  /** Share of absent ids that passed. */
  readonly measured: number;
  /** Absent ids that passed. */
  readonly passed: number;
  readonly modelled: number;
}

/** Filters of so many ids are made and looked at until `hits` absent ids have passed. */
export interface GrowthMeasurement<FilterTarget> {
  readonly target: FilterTarget;
  readonly ids: number;
  readonly hits: number;
  readonly seed: number;
}

export function measureCuckoo({ target, ...rest }: GrowthMeasurement<CuckooTarget>): GrowthRates {
  return overFilters(rest, () => {
    const filter = cuckoo.create(target);
    return {
      add: (id) => filter.add(id),
      mightContain: (id) => filter.mightContain(id),
      model: () => filter.estimate().errorRate,
    };
  });
}

export function measureScaling({ target, ...rest }: GrowthMeasurement<ScalingTarget>): GrowthRates {
  return overFilters(rest, () => {
    const filter = new ScalableFilter(target);
    return {
      add: (id) => filter.add(id),
      mightContain: (id) => filter.mightContain(id),
      model: () => filter.modelledErrorRate,
    };
  });
}

function overFilters(
  { ids, hits, seed }: { ids: number; hits: number; seed: number },
  create: () => { add(id: string): unknown; mightContain(id: string): boolean; model(): number },
): GrowthRates {
  const absentIds = 4 * ids;
  let passed = 0;
  let modelled = 0;
  let rounds = 0;
  for (; passed < hits; rounds++) {
    const filter = create();
    for (let i = 0; i < ids; i++) filter.add(`${seed}-${rounds}-${i}`);
    for (let i = 0; i < absentIds; i++) if (filter.mightContain(`absent-${seed}-${rounds}-${i}`)) passed++;
    modelled += filter.model();
  }
  return { measured: passed / (rounds * absentIds), passed, modelled: modelled / rounds };
}
