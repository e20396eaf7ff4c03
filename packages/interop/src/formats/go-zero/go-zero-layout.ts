import { BitmapLayout } from '../bitmap/bitmap-layout.js';
import { Modulus } from '../bitmap/modulus.js';
import { Murmur3 } from '../hash/murmur3-128.js';
import type { ByteSink } from '../id/byte-sink.js';
import { putTextOrBytes } from '../id/put-text.js';
import type { BloomId } from 'nestjs-bloom/filter';

/** The number of hashes is a constant of go-zero. */
export const GO_ZERO_HASH_COUNT = 14;

const FIRST_LOCATED = 2;

/**
 * Layout 2, `go-zero`: position i is the first half of MurmurHash3 x64 128 of the id followed by the byte i, modulo bits.
 * Each is a hash of its own, so a lookup makes the next one only when the bit before it was set.
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
