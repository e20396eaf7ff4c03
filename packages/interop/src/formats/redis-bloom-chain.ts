import { BloomConfigError, type BloomId, type FilterTarget } from 'nestjs-bloom/filter';
import {
  anyError,
  checkInteger,
  checkOptions,
  falsePositiveRate,
  isText,
  type OptionTable,
  TRUE_OR_FALSE,
  wrongErrorRate,
} from 'nestjs-bloom/internal';
import { BitmapLayout, type Geometry } from './bitmap-filter.js';
import { Bitmap } from './bitmap.js';
import type { ByteSink } from './byte-sink.js';
import { DoubleHashing } from './double-hashing.js';
import { MurmurHash64A } from './hash/hashes.js';
import { naturalLogarithm } from './java.js';
import { type Adopt, KEY_OPTIONS } from './key-options.js';
import { putTextOrBytes } from './peer-id.js';
import { noAdoptWithoutKey, noExpansion, scalesAndDoesNot } from './formats.messages.js';

const SEED_HIGH = 0xc6a4a793 | 0;
const SEED_LOW = 0x5bd1e995 | 0;

/**
 * The two hashes of RedisBloom, the second seeded with the first; each is left in two halves. All links of a
 * chain share them.
 */
export class RedisBloomHash {
  firstHigh = 0;
  firstLow = 0;
  secondHigh = 0;
  secondLow = 0;

  private readonly murmur = new MurmurHash64A();

  hash(bytes: ByteSink): void {
    const { murmur } = this;
    murmur.hash(bytes, SEED_HIGH, SEED_LOW);
    this.firstHigh = murmur.high;
    this.firstLow = murmur.low;
    murmur.hash(bytes, this.firstHigh, this.firstLow);
    this.secondHigh = murmur.high;
    this.secondLow = murmur.low;
  }
}

/** Layout 5, `redisbloom`, of one link of the chain: double hashing with two MurmurHash64A. */
export class RedisBloomLayout extends BitmapLayout {
  readonly kind = 'redisbloom';
  readonly bitOrder = 'least-significant-first';

  private readonly hashing: DoubleHashing;

  /** @internal Links of one filter share a hash. */
  constructor(
    geometry: Geometry,
    private readonly hash = new RedisBloomHash(),
  ) {
    super(geometry);
    this.hashing = new DoubleHashing(geometry.bits, { clearsTopBit: false, alternates: false });
    this.located = geometry.hashCount;
  }

  isSameAs(other: BitmapLayout): boolean {
    return this.hasSameGeometry(other);
  }

  /** Finds the positions of the id that was located last by any layout with this hash. */
  locateHashed(): void {
    const { firstHigh, firstLow, secondHigh, secondLow } = this.hash;
    this.hashing.fill(this.places, firstHigh, firstLow, secondHigh, secondLow);
  }

  protected put(id: BloomId, sink: ByteSink): void {
    putTextOrBytes(id, sink, '\ufffd');
  }

  protected locateBytes(sink: ByteSink): void {
    this.hash.hash(sink);
    this.locateHashed();
  }
}

// RedisBloom's own, cut off: with all digits, the hash count of error rates such as 0.25 would be one less.
const LN2 = 0.693147180559945;
const LN2_SQUARED = 0.480453013918201;

/** Redis 8 takes a higher error rate for this one. */
const MAX_ERROR_RATE = 0.25;
const MAX_CAPACITY = 2 ** 30;
const MAX_EXPANSION = 32_768;
const DEFAULT_EXPANSION = 2;
const TIGHTENING = 0.5;

/** The arguments of `BF.RESERVE`. */
export interface RedisBloomTarget extends FilterTarget {
  /** Ids of a further link, as a multiple of the last one's; 0 is `nonScaling`. Default 2. */
  readonly expansion?: number | undefined;
  /** Holds `capacity` ids and takes no more, instead of growing by links. */
  readonly nonScaling?: boolean | undefined;
  /**
   * Error rates above this are taken for it: 0.25, as Redis 8 does (default), or 1, as RedisBloom 2.8 does.
   */
  readonly maxErrorRate?: number | undefined;
}

/** One link of a chain. */
export interface LinkTarget extends FilterTarget {
  /** The error rate of this link alone. */
  readonly errorRate: number;
}

/** The size of one link of a chain. */
export interface LinkGeometry extends Geometry {
  readonly bitsPerId: number;
}

/** How a chain begins and grows. */
export interface ChainSettings {
  readonly expansion: number;
  readonly nonScaling: boolean;
}

/**
 * What `BF.RESERVE` makes of its arguments.
 *
 * @throws {BloomConfigError} for what Redis 8 refuses too.
 */
export function chainOf(target: RedisBloomTarget): ChainSettings & { first: LinkTarget } {
  const { capacity, errorRate, maxErrorRate = MAX_ERROR_RATE } = target;
  checkInteger('capacity', capacity, { min: 1, max: MAX_CAPACITY });
  checkInteger('expansion', target.expansion ?? 0, { min: 0, max: MAX_EXPANSION });
  if (target.nonScaling && target.expansion) {
    throw new BloomConfigError(scalesAndDoesNot(target.expansion));
  }
  const nonScaling = target.nonScaling === true || target.expansion === 0;
  const ofFirst = Math.min(errorRate, maxErrorRate) * (nonScaling ? 1 : TIGHTENING);
  if (!(errorRate < 1 && ofFirst > 0)) {
    throw new BloomConfigError(wrongErrorRate(errorRate));
  }
  return {
    expansion: target.expansion ?? DEFAULT_EXPANSION,
    nonScaling,
    first: { capacity, errorRate: ofFirst },
  };
}

/** The link after one of these. */
export function nextLink(last: LinkTarget, expansion: number): LinkTarget {
  return { capacity: last.capacity * expansion, errorRate: last.errorRate * TIGHTENING };
}

/** Bits and hash count of one link. */
export function linkSize({ capacity, errorRate }: LinkTarget): LinkGeometry {
  const bitsPerId = -(naturalLogarithm(errorRate) / LN2_SQUARED);
  const words = Math.ceil(Math.max(1, Math.trunc(capacity * bitsPerId)) / 64);
  return { bits: words * 64, hashCount: hashCountOf(bitsPerId), bitsPerId };
}

export function hashCountOf(bitsPerId: number): number {
  return Math.ceil(LN2 * bitsPerId);
}

/** The chance that an absent id passes one of the links that a chain has when it holds `ids` ids. */
export function chainErrorRate(target: RedisBloomTarget, ids: number): number {
  const { first, nonScaling, expansion } = chainOf(target);
  const rates: number[] = [];
  let rest = nonScaling ? Math.min(ids, first.capacity) : ids;
  for (let link = first; rest > 0 && link.errorRate > 0; link = nextLink(link, expansion)) {
    const here = Math.min(rest, link.capacity);
    rates.push(falsePositiveRate({ ...linkSize(link), ids: here }));
    rest -= here;
  }
  return anyError(rates);
}

/** A link as a dump describes it. */
export interface LinkState extends LinkTarget, LinkGeometry {
  /** Ids added to this link. */
  readonly items: number;
}

/** One filter of the chain. */
export class RedisBloomLink {
  readonly layout: RedisBloomLayout;
  readonly bitmap: Bitmap;
  items: number;

  constructor(
    private readonly described: LinkState,
    hash: RedisBloomHash,
    bytes?: Uint8Array,
  ) {
    this.layout = new RedisBloomLayout(described, hash);
    this.bitmap = new Bitmap(this.layout, bytes);
    this.items = described.items;
  }

  get isFull(): boolean {
    return this.items >= this.described.capacity;
  }

  get state(): LinkState {
    return { ...this.described, items: this.items };
  }
}

/** A filter of the commands `BF.*`: Redis 8, Redis Stack, Valkey with valkey-bloom, Dragonfly. */
export interface RedisBloomLayoutOptions {
  /** The key that the peers use. Left out: a key of this filter's own, which nobody else writes to. */
  readonly key?: string | undefined;
  /** Ids of a further link, as a multiple of the last one's. Default 2. */
  readonly expansion?: number | undefined;
  /**
   * Takes no more than `capacity` ids, instead of growing by links: an `add` beyond rejects with a
   * `BloomFullError`.
   */
  readonly nonScaling?: boolean | undefined;
  /**
   * With a `key` and without a source: when the key is taken as it is. `first-sight` (default): as soon as it
   * is there, so let its owner fill it before, or fill another key and rename it. `explicit`: when
   * `filter.adopt()` is called.
   */
  readonly adopt?: Adopt | undefined;
}

const OPTIONS = {
  key: ['the name of a key', isText],
  expansion: true,
  nonScaling: TRUE_OR_FALSE,
  adopt: KEY_OPTIONS.adopt,
} satisfies OptionTable<RedisBloomLayoutOptions>;

/** @throws {BloomConfigError} for a layout that `BF.RESERVE` cannot make. */
export function checkRedisBloomOptions(options: RedisBloomLayoutOptions): void {
  checkOptions(options, { where: 'redisBloom()', known: OPTIONS });
  const { key, expansion, nonScaling, adopt } = options;
  if (adopt !== undefined && key === undefined) {
    throw new BloomConfigError(noAdoptWithoutKey('redisBloom', adopt));
  }
  if (expansion === 0) throw new BloomConfigError(noExpansion('redisBloom'));
  chainOf({ capacity: 1, errorRate: 0.01, expansion, nonScaling });
}
