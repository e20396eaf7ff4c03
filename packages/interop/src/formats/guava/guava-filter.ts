import { BitmapFilter } from '../bitmap/bitmap-filter.js';
import { GUAVA_STRATEGIES, type GuavaLayout, WORD_BITS } from './guava-layout.js';

export const GUAVA_HEADER_BYTES = 6;

/** A filter of Guava in the memory of this process. */
export class GuavaFilter extends BitmapFilter<GuavaLayout> {
  /** What `BloomFilter.writeTo` writes: strategy, hash count, number of words, words. */
  write(): Uint8Array {
    const { strategy, hashCount, bits } = this.layout;
    const bitmap = this.copy();
    const dump = new Uint8Array(GUAVA_HEADER_BYTES + bitmap.length);
    dump[0] = GUAVA_STRATEGIES.indexOf(strategy);
    dump[1] = hashCount;
    new DataView(dump.buffer).setInt32(2, bits / WORD_BITS);
    dump.set(bitmap, GUAVA_HEADER_BYTES);
    return dump;
  }
}
