import { BloomConfigError, type FilterTarget } from 'nestjs-bloom/filter';
import { checkOptions, type OptionNames } from 'nestjs-bloom/internal';
import { CuckooFilter, loadCuckoo } from './cuckoo-filter.js';
import {
  cuckooErrorRate,
  type CuckooGeometry,
  CuckooLayout,
  type CuckooSettings,
  cuckooSize,
  type CuckooTarget,
  MAX_BUCKET_SIZE,
  MAX_CAPACITY,
} from './cuckoo-layout.js';
import type { RedisBloomChunk } from './dump.js';
import { plannerOf } from '../layout-plan.js';
import { cuckooTooLarge } from './formats.messages.js';

/**
 * A filter from which ids can be removed, in the form of `CF.*`. Its size comes from `capacity` and
 * `errorRate` of the filter.
 */
export type CuckooLayoutOptions = Omit<CuckooTarget, 'capacity'>;

const OPTIONS = {
  bucketSize: true,
  maxIterations: true,
  expansion: true,
} satisfies OptionNames<CuckooLayoutOptions>;

/** @throws {BloomConfigError} for a layout that `CF.RESERVE` cannot make. */
export function checkCuckooOptions(options: CuckooLayoutOptions): void {
  checkOptions(options, { where: 'cuckoo()', known: OPTIONS });
  const { bucketSize = 1, maxIterations, expansion } = options;
  cuckooSize({ capacity: 2 * bucketSize, bucketSize, maxIterations, expansion });
}

/**
 * The smallest filter that holds so many ids at an error rate in its first table; `CF.RESERVE` knows no error
 * rate. Its capacity, as `CF.RESERVE` takes it, is `buckets * bucketSize`.
 *
 * @throws {BloomConfigError} when Redis 8 cannot make it.
 */
function planCuckoo(target: FilterTarget, options: Omit<CuckooTarget, 'capacity'>): CuckooSettings {
  let best: CuckooSettings | undefined;
  const sizes = options.bucketSize === undefined ? everyBucketSize() : [options.bucketSize];
  for (const bucketSize of sizes) {
    const settings = smallest(target, { ...options, bucketSize });
    if (settings !== undefined && (best === undefined || bytesOf(settings) < bytesOf(best))) best = settings;
  }
  if (best !== undefined) return best;
  throw new BloomConfigError(cuckooTooLarge(target.capacity, target.errorRate, MAX_CAPACITY));
}

function smallest(
  target: FilterTarget,
  options: CuckooTarget & { bucketSize: number },
): CuckooSettings | undefined {
  for (let slots = 2 * options.bucketSize; slots <= MAX_CAPACITY; slots *= 2) {
    const settings = cuckooSize({ ...options, capacity: slots });
    const holdsAll = target.capacity <= slots * safeLoad(options.bucketSize);
    if (holdsAll && cuckooErrorRate(settings, target.capacity) <= target.errorRate) return settings;
  }
  return undefined;
}

/**
 * The load up to which a table has room with 20 iterations: at 2^20 buckets of 1, 2, 3 and 4 slots, tables
 * grew from 0.28, 0.35, 0.70 and 0.72 on (measured), smaller ones later. Growing earlier than that costs
 * memory and, with an expansion of 1, no errors.
 */
function safeLoad(bucketSize: number): number {
  return bucketSize === 1 ? 0.25 : bucketSize === 2 ? 0.35 : 0.7;
}

function bytesOf({ buckets, bucketSize }: CuckooSettings): number {
  return buckets * bucketSize;
}

function everyBucketSize(): number[] {
  return Array.from({ length: MAX_BUCKET_SIZE }, (_, index) => index + 1);
}

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
   * A filter from the replies of `CF.SCANDUMP`, in any order after the first; the empty one at the end may be
   * left out.
   *
   * **The filter must not change while it is dumped**: a fingerprint that moves meanwhile is an id that is
   * denied. Dump a copy, made by `DUMP` and `RESTORE` under another key. Where that is not possible, dump it
   * twice and pass the chunks of both: they must be the same. The header alone, asked for once more at the
   * end, shows most changes, but not as many adds as removals, when the removals made the filter compact
   * itself.
   *
   * @throws {BloomFormatError} when chunks are missing, do not fit their header, or are of different moments
   * as far as that can be known.
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
