import { BloomConfigError } from '../common/index.js';
import { checkInteger, type FilterTarget } from './filter-target.js';
import { type FilterPlan, modelledErrorRate, planBlocked } from './sizing.js';
import { planOfOtherLayout, notAPlan } from './filter.messages.js';

/**
 * The size of a filter of layout `blocked`. Other layouts plan their own: `goZero.plan`, `cuckoo.plan`, … of
 * `@nestjs-bloom/interop`, and `scaling.plan` of `@nestjs-bloom/interop/scaling`.
 *
 * @throws {BloomConfigError} when there can be no such filter.
 */
export function planFilter(target: FilterTarget): FilterPlan {
  const { layout } = target as { readonly layout?: unknown };
  if (layout === undefined || layout === 'blocked') return planBlocked(target);
  throw new BloomConfigError(planOfOtherLayout(layout));
}

/**
 * Share of absent ids answered "maybe" by a filter of this plan that holds `ids` ids.
 *
 * @throws {BloomConfigError} when `ids` is negative or no integer, or the plan is that of another layout,
 * which has the same function.
 */
export function expectedErrorRate(plan: FilterPlan, ids: number): number {
  checkInteger('ids', ids, { min: 0, max: Number.MAX_SAFE_INTEGER });
  const { hashCount, blocks } = plan;
  if (blocks === undefined) {
    throw new BloomConfigError(notAPlan(plan));
  }
  return modelledErrorRate({ hashCount, idsPerBlock: ids / blocks });
}
