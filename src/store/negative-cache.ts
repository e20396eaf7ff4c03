import type { IdKey } from '../filter/index.js';

/** How many denials are remembered, and for how long. */
export interface SharedNegativeCacheOptions {
  /** How long a denial is remembered at most, in milliseconds. */
  readonly lifeMs: number;
  /** Denials that are remembered at most, of a filter. */
  readonly maxIds: number;
}

/** Ids that the filter let through and the database denied, remembered for all processes. */
export interface SharedNegativeCache {
  /**
   * Asked when the filter has answered "maybe". Never rejects: if the answer cannot be known, the id is not
   * denied.
   */
  ask(question: DenialQuestion): Promise<DenialAnswer>;
}

export interface DenialQuestion {
  readonly id: IdKey;
  /** What the database was asked about the id: a denial of one question says nothing about another. */
  readonly scope: string;
  /** When the lookup began, by `performance.now()`: one deadline is over the check and this. */
  readonly since: number;
}

export interface DenialAnswer {
  readonly isDenied: boolean;
  /** To be called when the database, asked after this answer, has denied the id. */
  note(): void;
}
