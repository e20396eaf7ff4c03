import type { Product } from './product.js';

export interface Catalogue {
  /** `generated`, or the file it was read from. */
  readonly source: string;
  readonly products: readonly Product[];
}
