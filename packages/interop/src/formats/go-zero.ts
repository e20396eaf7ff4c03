import { BloomConfigError, type BloomId, type FilterTarget } from 'nestjs-bloom/filter';
import {
  checkOptions,
  checkTarget,
  falsePositiveRate,
  isInteger,
  type OptionTable,
} from 'nestjs-bloom/internal';
import type { BloomLayout, StagePlan } from 'nestjs-bloom/store';
import type { BitmapFormat, BitmapSize } from '../redis/bitmap/bitmap-format.js';
import { BitmapFilter, BitmapLayout, bitmapPlanner, type Geometry } from './bitmap-filter.js';
import { bitmapLayout } from './bitmap-in-redis.js';
import { checkRedisString } from './bitmap.js';
import type { ByteSink } from './byte-sink.js';
import { Modulus } from './double-hashing.js';
import { Murmur3 } from './hash/hashes.js';
import {
  KEY_OPTIONS,
  MAX_STRING_BITS,
  MIN_STRING_BITS,
  type PeerKeyOptions,
  PEERS_KEY,
} from './key-options.js';
import { putTextOrBytes } from './peer-id.js';
import { goZeroTooLarge } from './formats.messages.js';

/** The number of hashes is a constant of go-zero. */
const GO_ZERO_HASH_COUNT = 14;

const FIRST_LOCATED = 2;

/**
 * Layout 2, `go-zero`: position i is the first half of MurmurHash3 x64 128 of the id followed by the byte i,
 * modulo bits. Each is a hash of its own, so a lookup makes the next one only when the bit before it was set.
 */
export class GoZeroLayout extends BitmapLayout {
  readonly kind = 'go-zero';
  readonly bitOrder = 'most-significant-first';

  private readonly hash = new Murmur3();
  private readonly halves = new Int32Array(2 * GO_ZERO_HASH_COUNT);
  private readonly modulus: Modulus;

  constructor({ bits }: { readonly bits: number }) {
    super({ bits, hashCount: GO_ZERO_HASH_COUNT });
    this.modulus = new Modulus(bits);
  }

  override locateNext(): void {
    const { halves, places, modulus, located } = this;
    // An id whose first bits are set is probably there: then all of them.
    const end = located === 0 ? FIRST_LOCATED : GO_ZERO_HASH_COUNT;
    this.hash.finishWithSuffixes(halves, located, end);
    for (let i = located; i < end; i++) places[i] = modulus.remainder(halves[2 * i]!, halves[2 * i + 1]!);
    this.located = end;
  }

  isSameAs(other: BitmapLayout): boolean {
    return this.hasSameGeometry(other);
  }

  protected put(id: BloomId, sink: ByteSink): void {
    putTextOrBytes(id, sink, '\ufffd');
  }

  protected locateBytes(sink: ByteSink): void {
    this.hash.absorb(sink);
    this.located = 0;
  }
}

/** A filter of go-zero on the very key that go-zero uses. */
export interface GoZeroLayoutOptions extends PeerKeyOptions {
  /** As given to `bloom.New`. */
  readonly key: string;
  /** As given to `bloom.New`: stored nowhere, and silently wrong if one side has another number. */
  readonly bits: number;
}

const OPTIONS = {
  key: PEERS_KEY,
  bits: [
    `the number of bits that every side uses, from ${MIN_STRING_BITS} to ${MAX_STRING_BITS}`,
    isInteger(MIN_STRING_BITS, MAX_STRING_BITS),
  ],
  ...KEY_OPTIONS,
} satisfies OptionTable<GoZeroLayoutOptions>;

/**
 * The fewest bits that keep an error rate with go-zero's 14 hashes. go-zero itself has no formula, it
 * recommends 20 bits an id.
 *
 * @throws {BloomConfigError} when they are more than the 2^32 that Redis holds.
 */
function goZeroSize(target: FilterTarget): Geometry {
  checkTarget(target);
  const { capacity: ids, errorRate } = target;
  const hashCount = GO_ZERO_HASH_COUNT;
  let tooFew = 0;
  let bits = MAX_STRING_BITS;
  if (!(falsePositiveRate({ bits, hashCount, ids }) <= errorRate)) {
    throw new BloomConfigError(goZeroTooLarge(MAX_STRING_BITS, ids, errorRate));
  }
  while (bits - tooFew > 1) {
    const middle = Math.floor((tooFew + bits) / 2);
    if (falsePositiveRate({ bits: middle, hashCount, ids }) <= errorRate) bits = middle;
    else tooFew = middle;
  }
  return { bits, hashCount };
}

/** A filter of go-zero in the memory of this process. */
export class GoZeroFilter extends BitmapFilter<GoZeroLayout> {
  /** The value of the Redis string that go-zero would have written. */
  write(): Uint8Array {
    return this.copyUsed();
  }
}

/** go-zero stores nothing but the bits: every side must be given the same number of them. */
export interface GoZeroOptions {
  /** As given to `bloom.New`; go-zero recommends 20 an id. Redis holds up to 2^32. */
  readonly bits: number;
}

/** Filters of go-zero's `core/bloom` (layout 2) in the memory of this process. */
const inMemory = {
  ...bitmapPlanner('go-zero', goZeroSize),

  /** The fewest bits that keep an error rate. */
  size: (target: FilterTarget): Geometry => goZeroSize(target),

  /** @throws {BloomConfigError} when bits is no positive integer. */
  layout(options: GoZeroOptions): GoZeroLayout {
    return new GoZeroLayout(options);
  },

  /** An empty filter. */
  create(options: GoZeroOptions): GoZeroFilter {
    return new GoZeroFilter(new GoZeroLayout(options));
  },

  /**
   * A filter from the value of its Redis string.
   *
   * @throws {BloomFormatError} when the value is longer than the filter.
   */
  read(value: Uint8Array, options: GoZeroOptions): GoZeroFilter {
    const layout = new GoZeroLayout(options);
    checkRedisString(value, layout);
    return new GoZeroFilter(layout, value.slice());
  },
} as const;

/** A filter of go-zero: the bits under its key. The size is the option `bits` of every side. */
export function goZeroFormat({ key, bits }: GoZeroLayoutOptions, plan: StagePlan): BitmapFormat {
  const fixed: Geometry = { bits, hashCount: GO_ZERO_HASH_COUNT };
  const size: BitmapSize = { ...fixed, target: plan, rebuildCapacity: Infinity };
  return {
    kind: 'go-zero',
    key,
    encoding: 'utf8',
    fixed,
    headBytes: 0,
    readsMissingAsEmpty: true,
    existsWithoutString: false,
    sizeOf: () => size,
    plan: (target) => ({ ...size, target }),
    layout: (geometry) => inMemory.layout(geometry),
    emptyFilter: (geometry) => inMemory.create(geometry),
    head: () => Buffer.alloc(0),
    geometryFields: () => [],
    settings: () => [],
  };
}

/**
 * The layout of go-zero's `core/bloom`, on its very key in Redis; its members make and read such filters in
 * memory.
 *
 * @throws {BloomConfigError} for an option that cannot work, or that it does not have.
 */
export const goZero = Object.assign(function goZero(options: GoZeroLayoutOptions): BloomLayout {
  checkOptions(options, { where: 'goZero()', known: OPTIONS, needed: ['key', 'bits'] });
  return bitmapLayout({
    kind: 'go-zero',
    maker: 'goZero',
    key: options.key,
    options,
    bytes: () => Math.ceil(options.bits / 8),
    format: (plan) => goZeroFormat(options, plan),
  });
}, inMemory);
