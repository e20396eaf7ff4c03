import type { ByteSink } from '../id/byte-sink.js';
import { multiplyHigh } from './multiply-high.js';

/** The multiplier of the algorithm, as halves of 32 bits. */
const M_HIGH = 0xc6a4a793;
const M_LOW = 0x5bd1e995;

/** MurmurHash64A, the 64-bit MurmurHash2 (A. Appleby, public domain). The hash is left in two halves. */
export class MurmurHash64A {
  high = 0;
  low = 0;

  /** The bytes must be padded. */
  hash({ view, length }: ByteSink, seedHigh: number, seedLow: number): void {
    // h = seed ^ length * m
    let high =
      seedHigh ^
      (multiplyHigh(length, M_LOW) +
        Math.imul(length, M_HIGH) +
        Math.imul(Math.floor(length / 0x100000000), M_LOW));
    let low = seedLow ^ Math.imul(length, M_LOW);
    const whole = length - (length % 8);
    for (let at = 0; at < whole; at += 8) {
      // k *= m; k ^= k >>> 47; k *= m
      let kLow = view.getInt32(at, true);
      let kHigh = view.getInt32(at + 4, true);
      kHigh = (multiplyHigh(kLow, M_LOW) + Math.imul(kHigh, M_LOW) + Math.imul(kLow, M_HIGH)) | 0;
      kLow = Math.imul(kLow, M_LOW) ^ (kHigh >>> 15);
      kHigh = (multiplyHigh(kLow, M_LOW) + Math.imul(kHigh, M_LOW) + Math.imul(kLow, M_HIGH)) | 0;
      // h = (h ^ k) * m
      high ^= kHigh;
      low ^= Math.imul(kLow, M_LOW);
      high = (multiplyHigh(low, M_LOW) + Math.imul(high, M_LOW) + Math.imul(low, M_HIGH)) | 0;
      low = Math.imul(low, M_LOW);
    }
    if (whole < length) {
      low ^= view.getInt32(whole, true);
      high ^= view.getInt32(whole + 4, true);
      high = (multiplyHigh(low, M_LOW) + Math.imul(high, M_LOW) + Math.imul(low, M_HIGH)) | 0;
      low = Math.imul(low, M_LOW);
    }
    // h ^= h >>> 47; h *= m; h ^= h >>> 47
    low ^= high >>> 15;
    high = (multiplyHigh(low, M_LOW) + Math.imul(high, M_LOW) + Math.imul(low, M_HIGH)) | 0;
    low = Math.imul(low, M_LOW);
    this.high = high;
    this.low = low ^ (high >>> 15);
  }
}
