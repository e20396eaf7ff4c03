import type { FilterShape } from '../../filter/index.js';

/** In what stores differ. */
export interface StoreTraits {
  /**
   * Whether the longest id belongs to what was built, and longer ones are known to be absent. Default true.
   */
  readonly keepsMaxIdBytes?: boolean;
  /** Size of a filter that was planned so, as far as it is known. Default: not compared. */
  readonly shapeOf?: (plan: { capacity: number; errorRate: number }) => Partial<FilterShape>;
  /** Ids that a filter takes which was planned for so many. Default: as many as that. */
  readonly capacityOf?: (planned: number) => number;
  /** Absent ids of 10,000 that pass at least at an error rate of 1 %. Default 0: a store may be exact. */
  readonly leastErrors?: number;
  /** Whether adds are taken while nothing is live, as with a source. Default true. */
  readonly takesAddsUnready?: boolean;
}
