import { MurmurHash64A } from '../hash/murmur-hash-64a.js';
import { ByteSink } from '../id/byte-sink.js';
import { putTextOrBytes } from '../id/put-text.js';
import type { BloomId } from 'nestjs-bloom/filter';
import { LAYOUT_NUMBERS } from '../layout-numbers.js';
import { checkCuckooGeometry, type CuckooGeometry } from './cuckoo-size.js';

/** Of MurmurHash2. */
const MULTIPLIER = 0x5bd1e995;

/**
 * Layout 7, `cuckoo`, of one table: an id is a fingerprint of one byte in one of two buckets.
 *
 * h = MurmurHash64A with seed 0; fingerprint = h mod 255 + 1; buckets h and h xor fingerprint · 0x5bd1e995, modulo their number. As
 * that is a power of two up to 2^32, the lower halves of both will do.
 */
export class CuckooLayout implements CuckooGeometry {
  readonly kind = 'cuckoo';
  readonly buckets: number;
  readonly bucketSize: number;

  /** Of the id last located, 1 to 255: 0 is an empty slot. */
  fingerprint = 0;
  /** Of the id last located, modulo 2^32: the number of the first bucket, before the remainder is taken. */
  first = 0;
  /** The same of the second bucket. */
  second = 0;

  private readonly hash = new MurmurHash64A();
  private readonly sink = new ByteSink();

  /** @throws {BloomConfigError} when buckets is no power of two, or the table is too large. */
  constructor(geometry: CuckooGeometry) {
    checkCuckooGeometry(geometry);
    this.buckets = geometry.buckets;
    this.bucketSize = geometry.bucketSize;
  }

  /** The number under which this layout is stored. */
  get number(): number {
    return LAYOUT_NUMBERS[this.kind];
  }

  /**
   * The two buckets of an id, in the peer's order; they may be one.
   *
   * @throws {BloomIdError} when the value is not an id.
   */
  positions(id: BloomId): number[] {
    this.locate(id);
    return [this.first, this.second].map((hash) => (hash & (this.buckets - 1)) >>> 0);
  }

  /**
   * What is stored for an id, 1 to 255.
   *
   * @throws {BloomIdError} when the value is not an id.
   */
  fingerprintOf(id: BloomId): number {
    this.locate(id);
    return this.fingerprint;
  }

  /** The bytes of an id that are hashed: to compare with the peer when the two do not find each other's ids. */
  encode(id: BloomId): Uint8Array {
    const sink = new ByteSink();
    putTextOrBytes(id, sink, '\ufffd');
    return sink.toBytes();
  }

  /** Finds the fingerprint and the buckets of an id. */
  locate(id: BloomId): void {
    const { sink, hash } = this;
    sink.clear();
    putTextOrBytes(id, sink, '\ufffd');
    sink.pad();
    hash.hash(sink, 0, 0);
    const { high, low } = hash;
    // 2^16 is 1 modulo 255: the sum of the four quarters has the same remainder.
    this.fingerprint = (((high >>> 16) + (high & 0xffff) + (low >>> 16) + (low & 0xffff)) % 255) + 1;
    this.first = low;
    this.second = otherBucket(low, this.fingerprint);
  }
}

/** The other bucket of a fingerprint: of the second one the first, and of the first one the second. */
export function otherBucket(hash: number, fingerprint: number): number {
  return hash ^ Math.imul(fingerprint, MULTIPLIER);
}
