import { BitmapFilter } from '../bitmap/bitmap-filter.js';
import type { SpringLayout } from './spring-layout.js';

/** A filter of Spring's `BloomFilterHelper` in the memory of this process. */
export class SpringFilter extends BitmapFilter<SpringLayout> {
  /** The value of the Redis string that the helper would have written. */
  write(): Uint8Array {
    return this.copyUsed();
  }
}
