import { BitmapLayout } from '../bitmap/bitmap-layout.js';
import type { Geometry } from '../bitmap/geometry.js';
import { DoubleHashing } from '../bitmap/double-hashing.js';
import type { ByteSink } from '../id/byte-sink.js';
import { putTextOrBytes } from '../id/put-text.js';
import type { BloomId } from 'nestjs-bloom/filter';
import { RedisBloomHash } from './redisbloom-hash.js';

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
