import { BitmapFilter } from '../bitmap/bitmap-filter.js';
import type { GoZeroLayout } from './go-zero-layout.js';

/** A filter of go-zero in the memory of this process. */
export class GoZeroFilter extends BitmapFilter<GoZeroLayout> {
  /** The value of the Redis string that go-zero would have written. */
  write(): Uint8Array {
    return this.copyUsed();
  }
}
