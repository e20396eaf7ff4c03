import type { FilterTarget } from 'nestjs-bloom/filter';
import { checkInteger, checkTarget } from 'nestjs-bloom/internal';

/** The size of a filter in a layout other than `blocked`. */
export interface LayoutPlan<Settings = unknown> {
  /** The layout, and the settings that were planned with. */
  readonly layout: { readonly kind: string } & Settings;
  /** Ids the filter holds at its error rate. */
  readonly capacity: number;
  /** Share of absent ids answered "maybe" that was asked for. */
  readonly errorRate: number;
  /** The same as the model gives it at capacity. */
  readonly modelledErrorRate: number;
  /** Bits set for an id (k); of a cuckoo filter, the buckets it may be in. */
  readonly hashCount: number;
  readonly bits: number;
  readonly bytes: number;
  readonly bitsPerId: number;
}

/** Plans filters of one layout. */
export interface LayoutPlanner<Settings = unknown> {
  /**
   * The size of a filter as its peer would choose it, for so many ids at an error rate. Peers round: the
   * modelled error rate may be a little above the one asked for.
   *
   * @throws {BloomConfigError} when the peer, or this library, cannot make such a filter.
   */
  plan(target: FilterTarget & Settings): LayoutPlan<Settings>;

  /**
   * Share of absent ids answered "maybe" by a filter of this plan that holds `ids` ids.
   *
   * @throws {BloomConfigError} when `ids` is negative or no integer.
   */
  expectedErrorRate(plan: LayoutPlan<Settings>, ids: number): number;
}

/** What the planner of a layout has to know. */
interface LayoutRules<Settings> {
  readonly kind: string;

  /** Bits and hash count of what the peer would make, and the settings that were chosen for it. */
  size(
    target: FilterTarget,
    settings: Settings,
  ): { readonly bits: number; readonly hashCount: number } & Partial<Settings>;

  /** Share of absent ids that pass a filter of this size with `ids` ids. */
  errorRate(plan: Omit<LayoutPlan<Settings>, 'modelledErrorRate'>, ids: number): number;
}

export function plannerOf<Settings>(rules: LayoutRules<Settings>): LayoutPlanner<Settings> {
  return {
    plan({ capacity, errorRate, ...settings }) {
      checkTarget({ capacity, errorRate });
      const given = settings as Settings;
      const { bits, hashCount, ...chosen } = rules.size({ capacity, errorRate }, given);
      const plan = {
        layout: { ...given, ...chosen, kind: rules.kind },
        capacity,
        errorRate,
        hashCount,
        bits,
        bytes: Math.ceil(bits / 8),
        bitsPerId: bits / capacity,
      };
      return { ...plan, modelledErrorRate: rules.errorRate(plan, capacity) };
    },

    expectedErrorRate(plan, ids) {
      checkInteger('ids', ids, { min: 0, max: Number.MAX_SAFE_INTEGER });
      return rules.errorRate(plan, ids);
    },
  };
}
