import { BitmapLayout } from '../bitmap/bitmap-layout.js';
import { checkInteger } from 'nestjs-bloom/internal';
import type { Geometry } from '../bitmap/geometry.js';
import { DoubleHashing } from '../bitmap/double-hashing.js';
import { HighwayHash } from '../hash/highway-hash.js';
import type { ByteSink } from '../id/byte-sink.js';
import type { BloomId } from 'nestjs-bloom/filter';
import {
  type Encoder,
  encoderOf,
  type RedissonCodec,
  type RedissonSettings,
  type RedissonType,
} from './codec.js';

export const REDISSON_MAX_BITS = 4_294_967_294;

/** Layout 4, `redisson`: double hashing with the two halves of HighwayHash 128, which are added in turn. */
export class RedissonLayout extends BitmapLayout {
  readonly kind = 'redisson';
  readonly bitOrder = 'most-significant-first';
  readonly codec: RedissonCodec;
  readonly type: RedissonType;

  private readonly hash = new HighwayHash();
  private readonly putId: Encoder;
  private readonly hashing: DoubleHashing;

  /** @throws {BloomConfigError} when bits is not from 1 to 4,294,967,294, or there is no such codec. */
  constructor(settings: Geometry & RedissonSettings) {
    super(settings);
    checkInteger('bits', settings.bits, { min: 1, max: REDISSON_MAX_BITS });
    this.codec = settings.codec;
    this.type = settings.type ?? 'String';
    this.putId = encoderOf(settings);
    this.hashing = new DoubleHashing(settings.bits, { clearsTopBit: true, alternates: true });
    this.located = settings.hashCount;
  }

  isSameAs(other: BitmapLayout): boolean {
    return (
      this.hasSameGeometry(other) &&
      other instanceof RedissonLayout &&
      this.codec === other.codec &&
      this.type === other.type
    );
  }

  protected put(id: BloomId, sink: ByteSink): void {
    this.putId(id, sink);
  }

  protected locateBytes(sink: ByteSink): void {
    const { hash } = this;
    hash.hash(sink);
    const { firstHigh, firstLow, secondHigh, secondLow } = hash;
    this.hashing.fill(this.places, firstHigh, firstLow, secondHigh, secondLow);
  }
}
