import type { Safety } from '../broken-store.js';
import type { Scenario } from '../scenario.js';

/** A kind of filter that is explored. */
export interface Family {
  readonly name: string;
  /** Sum over all schedules. */
  readonly share: number;
  /** What is taken out, one at a time. */
  readonly safeties: readonly Safety[];
  /** How many schedules are tried without a safety that another one covers for. */
  readonly triesOfSpare: number;
  makeScenario(seed: number): Scenario;
  /** Filters that scenarios copy, by their names. */
  readonly templates: readonly { readonly filterName: string; readonly scenario: Scenario }[];
}
