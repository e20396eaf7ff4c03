import { BloomFormatError } from 'nestjs-bloom/filter';
import type { GuavaFunnel } from '../java/funnel.js';
import { GUAVA_HEADER_BYTES, GuavaFilter } from './guava-filter.js';
import { GUAVA_STRATEGIES, GuavaLayout, WORD_BITS } from './guava-layout.js';
import { dumpTooShort, wrongStrategy, emptyDump, dumpCutShort } from '../peers.messages.js';

const WORD_BYTES = 8;

/**
 * What `BloomFilter.readFrom` reads. Like Guava, it ignores what follows the last word.
 *
 * @throws {BloomFormatError} when the dump is cut short, its strategy is unknown, or it has no hashes or no words.
 */
export function readGuava(dump: Uint8Array, funnel: GuavaFunnel): GuavaFilter {
  if (dump.length < GUAVA_HEADER_BYTES) {
    throw new BloomFormatError(dumpTooShort(GUAVA_HEADER_BYTES, dump.length));
  }
  const view = new DataView(dump.buffer, dump.byteOffset, dump.length);
  const strategy = GUAVA_STRATEGIES[view.getInt8(0)];
  if (strategy === undefined) {
    throw new BloomFormatError(wrongStrategy(view.getInt8(0)));
  }
  const hashCount = view.getUint8(1);
  const words = view.getInt32(2);
  if (hashCount < 1 || words < 1) {
    throw new BloomFormatError(emptyDump(hashCount, words));
  }
  const end = GUAVA_HEADER_BYTES + words * WORD_BYTES;
  if (dump.length < end) {
    throw new BloomFormatError(dumpCutShort(end, words, dump.length));
  }
  const layout = new GuavaLayout({ bits: words * WORD_BITS, hashCount, funnel, strategy });
  return new GuavaFilter(layout, dump.slice(GUAVA_HEADER_BYTES, end));
}
