/**
 * `on`: absent ids are answered without calling the method. `shadow`: everything is observed and nothing is blocked, for a first
 * roll-out. `off`: guards do not ask the filter.
 */
export type BloomGuardMode = 'on' | 'shadow' | 'off';

/**
 * What the guards of this process have seen of a filter since it was registered. A lookup that passes two of them, on a route and
 * on a repository, is counted by each.
 */
export interface BloomGuardCounts {
  readonly absent: number;
  readonly maybe: number;
  readonly unknown: number;
  /** Values that cannot be the id of any row. */
  readonly invalid: number;
  /**
   * "maybe", and the guarded method found nothing: false positives of the filter, and ids in it that have no row: of rows that were
   * deleted since the last build, and of creates that failed.
   */
  readonly foundNothing: number;
  /** Answered from the negative cache. */
  readonly remembered: number;
  /** Ids new to the filter that `@BloomRegisters` added before a method that then failed. */
  readonly failedAdds: number;
  /** "absent", and the guarded method found something all the same: seen by the audit or in shadow mode. */
  readonly wrongAbsents: number;
  /**
   * Share of the lookups of ids without a row that were let through, for whatever reason of `foundNothing`; undefined while there were
   * none. What the filter itself is wrong about is `modelledErrorRate` of `info()`: a figure far above it says how much rebuilding would save.
   */
  readonly letThroughRate: number | undefined;
}
