import type { BloomFilterState } from '../common/index.js';
import type { FilterShape } from '../filter/index.js';

/**
 * Which ids a generation holds. Processes whose contents differ must not answer "absent" for each other's
 * ids.
 */
export interface FilterContents {
  /** A short text for how ids are spelled: the same where all ids are spelled alike. */
  readonly spelling: string;
  /**
   * The rows whose ids they are, such as `products.sku`; undefined where that is not known, which equals any.
   */
  readonly rows: string | undefined;
}

/** What a store says of a filter. */
export interface FilterDescription {
  /** How the filter stands. */
  readonly state: BloomFilterState;
  /** Undefined unless `ready`. */
  readonly shape: FilterShape | undefined;
  /** How often the filter was built. */
  readonly builds: number;
  /**
   * Ids in the live generation: those of the build and those added since; an id met twice may count twice.
   */
  readonly count: number;
  /** Ids that the last completed build read, also after the filter was lost. */
  readonly builtIds: number;
  /** Ids that it is planned for. */
  readonly capacity: number;
  /** The error rate of the plan. */
  readonly errorRate: number;
  /** When the live generation was built. */
  readonly builtAt: Date | undefined;
  /** Whether a rebuild has published its staging. */
  readonly rebuilding: boolean;
  /** The parts of a partitioned filter, in order; its other numbers are sums. */
  readonly parts?: readonly PartDescription[] | undefined;
}

/** One part of a partitioned filter; a part that cannot be asked has an error in place of what is stored. */
export type PartDescription = (
  | FilterDescription
  | {
      /** Why it cannot be asked. */
      readonly error: unknown;
    }
) & {
  /** From 0. */
  readonly part: number;
};
