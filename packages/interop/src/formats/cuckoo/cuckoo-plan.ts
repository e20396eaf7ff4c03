import { BloomConfigError, type FilterTarget } from 'nestjs-bloom/filter';
import { cuckooErrorRate } from './cuckoo-model.js';
import {
  type CuckooTarget,
  cuckooSize,
  type CuckooSettings,
  MAX_BUCKET_SIZE,
  MAX_CAPACITY,
} from './cuckoo-size.js';
import { cuckooTooLarge } from '../peers.messages.js';

/**
 * The smallest filter that holds so many ids at an error rate in its first table; `CF.RESERVE` knows no error rate. Its capacity, as
 * `CF.RESERVE` takes it, is `buckets * bucketSize`.
 *
 * @throws {BloomConfigError} when Redis 8 cannot make it.
 */
export function planCuckoo(target: FilterTarget, options: Omit<CuckooTarget, 'capacity'>): CuckooSettings {
  let best: CuckooSettings | undefined;
  const sizes = options.bucketSize === undefined ? everyBucketSize() : [options.bucketSize];
  for (const bucketSize of sizes) {
    const settings = smallest(target, { ...options, bucketSize });
    if (settings !== undefined && (best === undefined || bytesOf(settings) < bytesOf(best))) best = settings;
  }
  if (best !== undefined) return best;
  throw new BloomConfigError(cuckooTooLarge(target.capacity, target.errorRate, MAX_CAPACITY));
}

function smallest(
  target: FilterTarget,
  options: CuckooTarget & { bucketSize: number },
): CuckooSettings | undefined {
  for (let slots = 2 * options.bucketSize; slots <= MAX_CAPACITY; slots *= 2) {
    const settings = cuckooSize({ ...options, capacity: slots });
    const holdsAll = target.capacity <= slots * safeLoad(options.bucketSize);
    if (holdsAll && cuckooErrorRate(settings, target.capacity) <= target.errorRate) return settings;
  }
  return undefined;
}

/**
 * The load up to which a table has room with 20 iterations: at 2^20 buckets of 1, 2, 3 and 4 slots, tables grew from 0.28, 0.35, 0.70 and
 * 0.72 on (measured), smaller ones later. Growing earlier than that costs memory and, with an expansion of 1, no errors.
 */
function safeLoad(bucketSize: number): number {
  return bucketSize === 1 ? 0.25 : bucketSize === 2 ? 0.35 : 0.7;
}

function bytesOf({ buckets, bucketSize }: CuckooSettings): number {
  return buckets * bucketSize;
}

function everyBucketSize(): number[] {
  return Array.from({ length: MAX_BUCKET_SIZE }, (_, index) => index + 1);
}
