import { plannerOf } from '../../layout-plan.js';
import { cuckooErrorRate } from './cuckoo-model.js';
import type { CuckooLayoutOptions } from './cuckoo-options.js';
import { planCuckoo } from './cuckoo-plan.js';
import type { RedisBloomChunk } from '../dump/dump-chunks.js';
import { CuckooFilter } from './cuckoo-filter.js';
import { CuckooLayout } from './cuckoo-layout.js';
import { loadCuckoo } from './cuckoo-loader.js';
import { type CuckooTarget, type CuckooGeometry, cuckooSize, type CuckooSettings } from './cuckoo-size.js';

/** Cuckoo filters of RedisBloom, Redis 8 `CF.*` (layout 7): ids can be removed again. */
export const cuckooCodec = {
  ...plannerOf<CuckooLayoutOptions>({
    kind: 'cuckoo',
    size: (target, settings) => {
      const { buckets, bucketSize } = planCuckoo(target, settings);
      return { bits: buckets * bucketSize * 8, hashCount: 2, bucketSize };
    },
    errorRate: ({ layout, bits }, ids) => cuckooErrorRate(cuckooSize({ ...layout, capacity: bits / 8 }), ids),
  }),

  /**
   * What `CF.RESERVE` makes of its arguments.
   *
   * @throws {BloomConfigError} for what Redis 8 refuses too.
   */
  size(target: CuckooTarget): CuckooSettings {
    return cuckooSize(target);
  },

  /**
   * The layout of one table.
   *
   * @throws {BloomConfigError} when buckets is no power of two, or bucketSize not from 1 to 255.
   */
  layout(geometry: CuckooGeometry): CuckooLayout {
    return new CuckooLayout(geometry);
  },

  /**
   * An empty filter, as `CF.RESERVE` makes it; without options, as `CF.ADD` does.
   *
   * @throws {BloomConfigError} for what Redis 8 refuses too.
   */
  create(options: CuckooTarget = {}): CuckooFilter {
    return new CuckooFilter(cuckooSize(options));
  },

  /**
   * A filter from the replies of `CF.SCANDUMP`, in any order after the first; the empty one at the end may be left out.
   *
   * **The filter must not change while it is dumped**: a fingerprint that moves meanwhile is an id that is denied. Dump a copy, made by
   * `DUMP` and `RESTORE` under another key. Where that is not possible, dump it twice and pass the chunks of both: they must be the same.
   * The header alone, asked for once more at the end, shows most changes, but not as many adds as removals, when the removals made the
   * filter compact itself.
   *
   * @throws {BloomFormatError} when chunks are missing, do not fit their header, or are of different moments as far as that can be known.
   */
  read(chunks: Iterable<{ readonly iterator: number; readonly data: Uint8Array | null }>): CuckooFilter {
    return loadCuckoo(filledChunks(chunks));
  },
} as const;

/** Those with data. */
function filledChunks(
  chunks: Iterable<{ readonly iterator: number; readonly data: Uint8Array | null }>,
): RedisBloomChunk[] {
  return [...chunks].flatMap(({ iterator, data }) =>
    iterator === 0 && (data === null || data.length === 0)
      ? []
      : [{ iterator, data: data ?? new Uint8Array() }],
  );
}
