import type { ByteSink } from '../id/byte-sink.js';
import { MurmurHash64A } from '../hash/murmur-hash-64a.js';

const SEED_HIGH = 0xc6a4a793 | 0;
const SEED_LOW = 0x5bd1e995 | 0;

/** The two hashes of RedisBloom, the second seeded with the first; each is left in two halves. All links of a chain share them. */
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
