import { BloomConfigError, type BloomId } from 'nestjs-bloom/filter';
import { BitmapLayout } from '../bitmap/bitmap-layout.js';
import type { Geometry } from '../bitmap/geometry.js';
import { DoubleHashing } from '../bitmap/double-hashing.js';
import { fillMitz32 } from '../hash/mitz-32.js';
import { Murmur3 } from '../hash/murmur3-128.js';
import type { ByteSink } from '../id/byte-sink.js';
import { type CustomFunnel, type GuavaFunnel, funnelOf } from '../java/funnel.js';
import { wrongGeometry } from '../peers.messages.js';

/** At its index: the strategy that Guava writes as this number. */
export const GUAVA_STRATEGIES = ['MURMUR128_MITZ_32', 'MURMUR128_MITZ_64'] as const;
/** `MURMUR128_MITZ_64` is what `BloomFilter.create` uses; the other is of old releases. */
export type GuavaStrategy = (typeof GUAVA_STRATEGIES)[number];

export const GUAVA_MAX_HASH_COUNT = 255;
/** The length of its array of longs is a signed 32-bit integer. */
export const GUAVA_MAX_WORDS = 2 ** 31 - 1;
export const WORD_BITS = 64;

/** What the bits of an id depend on, beside the size. */
export interface GuavaSettings {
  readonly funnel: GuavaFunnel;
  /** Default `MURMUR128_MITZ_64`. */
  readonly strategy?: GuavaStrategy | undefined;
}

/** Layout 3, `guava`: double hashing with the two halves of MurmurHash3 x64 128 of what the funnel makes of the id. */
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
    if (bits % WORD_BITS !== 0 || bits / WORD_BITS > GUAVA_MAX_WORDS || hashCount > GUAVA_MAX_HASH_COUNT) {
      throw new BloomConfigError(wrongGeometry(GUAVA_MAX_HASH_COUNT, bits, hashCount));
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
