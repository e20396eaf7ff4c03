import { BloomConfigError, BloomFormatError, type BloomId, type FilterTarget } from 'nestjs-bloom/filter';
import { checkOptions, checkTarget, type OptionTable } from 'nestjs-bloom/internal';
import type { BloomLayout, StagePlan } from 'nestjs-bloom/store';
import type { BitmapFormat, BitmapSize, FoundString } from '../redis/bitmap/bitmap-format.js';
import { notWrittenByGuava } from '../redis/bitmap/bitmap.messages.js';
import { BitmapFilter, BitmapLayout, bitmapPlanner, type Geometry } from './bitmap-filter.js';
import { bitmapLayout } from './bitmap-in-redis.js';
import type { ByteSink } from './byte-sink.js';
import { DoubleHashing } from './double-hashing.js';
import { type CustomFunnel, FUNNEL, funnelOf, type GuavaFunnel } from './guava-funnel.js';
import { fillMitz32, Murmur3 } from './hash/hashes.js';
import { naturalLogarithm, optimalBits, optimalHashCount } from './java.js';
import { KEY_OPTIONS, MAX_STRING_BITS, type PeerKeyOptions, PEERS_KEY } from './key-options.js';
import {
  dumpCutShort,
  dumpTooShort,
  emptyDump,
  tooLargeForRedis,
  wrongGeometry,
  wrongGuavaSize,
  wrongStrategy,
} from './formats.messages.js';

/** At its index: the strategy that Guava writes as this number. */
export const GUAVA_STRATEGIES = ['MURMUR128_MITZ_32', 'MURMUR128_MITZ_64'] as const;
/** `MURMUR128_MITZ_64` is what `BloomFilter.create` uses; the other is of old releases. */
export type GuavaStrategy = (typeof GUAVA_STRATEGIES)[number];

const MAX_HASH_COUNT = 255;
/** The length of its array of longs is a signed 32-bit integer. */
const MAX_WORDS = 2 ** 31 - 1;
const WORD_BITS = 64;

/** What the bits of an id depend on, beside the size. */
export interface GuavaSettings {
  readonly funnel: GuavaFunnel;
  /** Default `MURMUR128_MITZ_64`. */
  readonly strategy?: GuavaStrategy | undefined;
}

/**
 * Layout 3, `guava`: double hashing with the two halves of MurmurHash3 x64 128 of what the funnel makes of
 * the id.
 */
export class GuavaLayout extends BitmapLayout {
  readonly kind = 'guava';
  readonly bitOrder = 'big-endian-words';
  readonly funnel: GuavaFunnel;
  readonly strategy: GuavaStrategy;

  private readonly hash = new Murmur3();
  private readonly putId: CustomFunnel;
  private readonly positions64: DoubleHashing;

  /** @throws {BloomConfigError} when bits is no multiple of 64, or Guava could not hold them. */
  constructor(settings: Geometry & GuavaSettings) {
    super(settings);
    const { bits, hashCount, funnel, strategy = 'MURMUR128_MITZ_64' } = settings;
    if (bits % WORD_BITS !== 0 || bits / WORD_BITS > MAX_WORDS || hashCount > MAX_HASH_COUNT) {
      throw new BloomConfigError(wrongGeometry(MAX_HASH_COUNT, bits, hashCount));
    }
    this.funnel = funnel;
    this.strategy = strategy;
    this.putId = funnelOf(funnel);
    this.positions64 = new DoubleHashing(bits, { clearsTopBit: true, alternates: false });
    this.located = hashCount;
  }

  isSameAs(other: BitmapLayout): boolean {
    return (
      this.hasSameGeometry(other) &&
      other instanceof GuavaLayout &&
      this.funnel === other.funnel &&
      this.strategy === other.strategy
    );
  }

  protected put(id: BloomId, sink: ByteSink): void {
    this.putId(id, sink);
  }

  protected locateBytes(sink: ByteSink): void {
    const { hash, places } = this;
    hash.hash(sink);
    if (this.strategy === 'MURMUR128_MITZ_32') fillMitz32(places, this.bits, hash.h1Low, hash.h1High);
    else this.positions64.fill(places, hash.h1High, hash.h1Low, hash.h2High, hash.h2Low);
  }
}

/** A filter of Guava in a Redis string that holds what `BloomFilter.writeTo` writes. */
export interface GuavaLayoutOptions extends PeerKeyOptions {
  /** The key that the peers use. */
  readonly key: string;
  /** Stored nowhere, and silently wrong if one side has another. */
  readonly funnel: GuavaFunnel;
  /** Default `MURMUR128_MITZ_64`. */
  readonly strategy?: GuavaStrategy | undefined;
}

const OPTIONS = {
  key: PEERS_KEY,
  funnel: FUNNEL,
  strategy: [
    `one of ${GUAVA_STRATEGIES.join(', ')}`,
    (strategy) => GUAVA_STRATEGIES.includes(strategy as GuavaStrategy),
  ],
  ...KEY_OPTIONS,
} satisfies OptionTable<GuavaLayoutOptions>;

/** Strategy (1 byte), hash count (1), number of words (4). */
const HEAD_BYTES = 6;

/** A filter of Guava in the memory of this process. */
export class GuavaFilter extends BitmapFilter<GuavaLayout> {
  /** What `BloomFilter.writeTo` writes: strategy, hash count, number of words, words. */
  write(): Uint8Array {
    const { strategy, hashCount, bits } = this.layout;
    const bitmap = this.copy();
    const dump = new Uint8Array(HEAD_BYTES + bitmap.length);
    dump[0] = GUAVA_STRATEGIES.indexOf(strategy);
    dump[1] = hashCount;
    new DataView(dump.buffer).setInt32(2, bits / WORD_BITS);
    dump.set(bitmap, HEAD_BYTES);
    return dump;
  }
}

/** What a filter of Guava is planned for. */
export interface GuavaTarget extends FilterTarget {
  /** From 0; Guava takes 0 for 1. */
  readonly capacity: number;
  /**
   * How Guava comes to the number of hashes: from the error rate as 33.7.1 does (default), or from the bits
   * as releases up to 32.0.1 at least do. They differ for very few ids, and otherwise where the number is
   * next to a half.
   */
  readonly hashCountFrom?: 'error-rate' | 'bits' | undefined;
}

/**
 * Bits and hash count that `BloomFilter.create` would choose.
 *
 * @throws {BloomConfigError} for what Guava refuses too.
 */
function guavaSize(target: GuavaTarget): Geometry {
  checkTarget(target, 0);
  const { errorRate, hashCountFrom = 'error-rate' } = target;
  const capacity = Math.max(1, target.capacity);
  const optimal = optimalBits(capacity, errorRate);
  const hashCount =
    hashCountFrom === 'bits'
      ? optimalHashCount(capacity, optimal)
      : Math.max(1, Math.round(-naturalLogarithm(errorRate) / Math.LN2));
  const words = Math.ceil(optimal / WORD_BITS);
  if (words < 1 || words > MAX_WORDS || hashCount > MAX_HASH_COUNT) {
    throw new BloomConfigError(
      wrongGuavaSize(MAX_HASH_COUNT, optimal, hashCount, target.capacity, errorRate),
    );
  }
  return { bits: words * WORD_BITS, hashCount };
}

/**
 * Bytes of the filter in a string of Redis, without its head.
 *
 * @throws {BloomConfigError} for a size that Guava refuses, and for one that with its head exceeds a string
 * of Redis.
 */
function guavaStringBytes(target: FilterTarget): number {
  const bytes = guavaSize(target).bits / 8;
  const most = MAX_STRING_BITS / 8 - HEAD_BYTES;
  if (bytes <= most) return bytes;
  throw new BloomConfigError(tooLargeForRedis(most, bytes, target.capacity, target.errorRate));
}

const WORD_BYTES = 8;

/**
 * A filter from what `BloomFilter.writeTo` wrote; like Guava, it ignores what follows the last word.
 */
function readGuava(dump: Uint8Array, { funnel }: { readonly funnel: GuavaFunnel }): GuavaFilter {
  if (dump.length < HEAD_BYTES) {
    throw new BloomFormatError(dumpTooShort(HEAD_BYTES, dump.length));
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
  const end = HEAD_BYTES + words * WORD_BYTES;
  if (dump.length < end) {
    throw new BloomFormatError(dumpCutShort(end, words, dump.length));
  }
  const layout = new GuavaLayout({ bits: words * WORD_BITS, hashCount, funnel, strategy });
  return new GuavaFilter(layout, dump.slice(HEAD_BYTES, end));
}

/** Filters of Google Guava's `BloomFilter` (layout 3) in the memory of this process. */
const inMemory = {
  ...bitmapPlanner('guava', guavaSize),

  /**
   * Bits and hash count that `BloomFilter.create` would choose.
   *
   * @throws {BloomConfigError} for what Guava refuses too.
   */
  size(target: GuavaTarget): Geometry {
    return guavaSize(target);
  },

  /** @throws {BloomConfigError} when bits is no multiple of 64, or Guava could not hold them. */
  layout(options: Geometry & GuavaSettings): GuavaLayout {
    return new GuavaLayout(options);
  },

  /**
   * An empty filter, as `BloomFilter.create` makes it.
   *
   * @throws {BloomConfigError} for what Guava refuses too.
   */
  create(options: GuavaTarget & GuavaSettings): GuavaFilter {
    return new GuavaFilter(new GuavaLayout({ ...options, ...guavaSize(options) }));
  },

  /** An empty filter of this size. */
  empty(options: Geometry & GuavaSettings): GuavaFilter {
    return new GuavaFilter(new GuavaLayout(options));
  },

  /**
   * A filter from what `BloomFilter.writeTo` wrote. The funnel is not in it: every side must be given the
   * same one.
   *
   * @throws {BloomFormatError} when the dump is cut short, its strategy is unknown, or it has no hashes or no
   * words.
   */
  read: (dump: Uint8Array, options: { readonly funnel: GuavaFunnel }): GuavaFilter =>
    readGuava(dump, options),
} as const;

/** A filter of Guava in a Redis string: what `writeTo` writes, whose bits are set in place. */
function guavaFormat(layout: GuavaLayoutOptions, plan: StagePlan): BitmapFormat {
  const { key, funnel, strategy = 'MURMUR128_MITZ_64' } = layout;
  const settings = { funnel, strategy };
  return {
    kind: 'guava',
    key,
    encoding: typeof funnel === 'function' ? 'custom' : funnel,
    fixed: undefined,
    headBytes: HEAD_BYTES,
    readsMissingAsEmpty: false,
    existsWithoutString: false,
    sizeOf: (found) =>
      found.length === 0
        ? undefined
        : { ...geometryOf(found, layout), target: plan, rebuildCapacity: Infinity },
    plan: (plan, found) => found ?? planned(plan),
    layout: (geometry) => inMemory.layout({ ...geometry, ...settings }),
    emptyFilter: (geometry) => inMemory.empty({ ...geometry, ...settings }),
    head: ({ bits, hashCount }) => {
      const head = Buffer.from([GUAVA_STRATEGIES.indexOf(strategy), hashCount, 0, 0, 0, 0]);
      head.writeInt32BE(bits / WORD_BITS, 2);
      return head;
    },
    geometryFields: () => [],
    settings: () => [],
  };
}

function planned(plan: StagePlan): BitmapSize {
  return { ...inMemory.size(plan), target: plan, rebuildCapacity: Infinity };
}

function geometryOf(
  { head, length }: FoundString,
  { key, strategy = 'MURMUR128_MITZ_64' }: GuavaLayoutOptions,
): Geometry {
  const refused = (expected: string, got: string) =>
    new BloomFormatError(notWrittenByGuava(key, expected, got));
  if (head.length < HEAD_BYTES) throw refused(`at least ${HEAD_BYTES} bytes`, `${length}`);
  const found = GUAVA_STRATEGIES[head.readInt8(0)];
  if (found !== strategy) throw refused(`of strategy ${strategy}`, `${found ?? head.readInt8(0)}`);
  const hashCount = head.readUInt8(1);
  const bits = head.readInt32BE(2) * WORD_BITS;
  if (hashCount < 1 || bits < WORD_BITS || bits + 8 * HEAD_BYTES > MAX_STRING_BITS) {
    throw refused(`1 to ${MAX_STRING_BITS} bits that Redis can hold`, `${bits} bits and ${hashCount} hashes`);
  }
  const whole = HEAD_BYTES + bits / 8;
  if (length !== whole) throw refused(`${whole} bytes for ${bits} bits`, `${length}`);
  return { bits, hashCount };
}

/**
 * The layout of Guava's `BloomFilter`, in a Redis string that holds what `writeTo` writes; its members make
 * and read such filters in memory.
 *
 * @throws {BloomConfigError} for an option that cannot work, or that it does not have.
 */
export const guava = Object.assign(function guava(options: GuavaLayoutOptions): BloomLayout {
  checkOptions(options, { where: 'guava()', known: OPTIONS, needed: ['key', 'funnel'] });
  return bitmapLayout({
    kind: 'guava',
    maker: 'guava',
    key: options.key,
    options,
    bytes: guavaStringBytes,
    format: (plan) => guavaFormat(options, plan),
  });
}, inMemory);
