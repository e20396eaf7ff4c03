import type { Difference } from './differences.js';

/** What the comparison with one collation found. */
export interface Compared {
  readonly server: string;
  readonly collation: string;
  readonly texts: number;
  readonly differences: readonly Difference[];
}
