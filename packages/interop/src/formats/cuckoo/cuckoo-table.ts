import { otherBucket } from './cuckoo-layout.js';
import type { CuckooGeometry } from './cuckoo-size.js';

/** An empty slot. */
const EMPTY = 0;

/**
 * One hash table of a cuckoo filter: buckets of slots, a byte each. Buckets are numbered modulo 2^32; the remainder modulo their number
 * is taken here.
 */
export class CuckooTable {
  readonly slots: Uint8Array;

  private readonly mask: number;
  private readonly bucketSize: number;

  /** @param slots left out: empty */
  constructor(
    { buckets, bucketSize }: CuckooGeometry,
    slots: Uint8Array = new Uint8Array(buckets * bucketSize),
  ) {
    this.mask = (buckets - 1) | 0;
    this.bucketSize = bucketSize;
    this.slots = slots;
  }

  /** Whether a fingerprint is in one of two buckets. */
  contains(first: number, second: number, fingerprint: number): boolean {
    return this.find(first, fingerprint) >= 0 || this.find(second, fingerprint) >= 0;
  }

  /** How often a fingerprint is in a bucket. */
  count(bucket: number, fingerprint: number): number {
    const start = this.startOf(bucket);
    let count = 0;
    for (let at = start; at < start + this.bucketSize; at++) if (this.slots[at] === fingerprint) count++;
    return count;
  }

  /** Puts a fingerprint into the first free slot of two buckets; false when there is none. */
  insert(first: number, second: number, fingerprint: number): boolean {
    return this.replace(first, EMPTY, fingerprint) || this.replace(second, EMPTY, fingerprint);
  }

  /** Takes a fingerprint out of one of two buckets; false when it is in neither. */
  remove(first: number, second: number, fingerprint: number): boolean {
    return this.replace(first, fingerprint, EMPTY) || this.replace(second, fingerprint, EMPTY);
  }

  /**
   * Puts a fingerprint into a full bucket in the place of another, which goes to its other bucket, and so on until there is a free
   * slot. False, and nothing is changed, when there is none after `maxIterations` of them.
   */
  evict(bucket: number, fingerprint: number, maxIterations: number): boolean {
    const { bucketSize } = this;
    let victim = 0;
    for (let i = 0; i < maxIterations; i++) {
      fingerprint = this.exchange(bucket, victim, fingerprint);
      bucket = otherBucket(bucket, fingerprint);
      if (this.replace(bucket, EMPTY, fingerprint)) return true;
      victim = (victim + 1) % bucketSize;
    }
    for (let i = 0; i < maxIterations; i++) {
      victim = (victim + bucketSize - 1) % bucketSize;
      bucket = otherBucket(bucket, fingerprint);
      fingerprint = this.exchange(bucket, victim, fingerprint);
    }
    return false;
  }

  /** Moves all fingerprints that fit into one of the tables, which have no more buckets than this one; whether this one is empty now. */
  moveInto(tables: readonly CuckooTable[]): boolean {
    const { slots, bucketSize } = this;
    let isEmpty = true;
    for (let at = 0; at < slots.length; at++) {
      const fingerprint = slots[at]!;
      if (fingerprint === EMPTY) continue;
      const bucket = Math.floor(at / bucketSize);
      const other = otherBucket(bucket, fingerprint);
      if (tables.some((table) => table.insert(bucket, other, fingerprint))) slots[at] = EMPTY;
      else isEmpty = false;
    }
    return isEmpty;
  }

  countFingerprints(): number {
    let count = 0;
    for (const slot of this.slots) if (slot !== EMPTY) count++;
    return count;
  }

  private find(bucket: number, value: number): number {
    const { slots, bucketSize } = this;
    const start = this.startOf(bucket);
    for (let at = start; at < start + bucketSize; at++) if (slots[at] === value) return at;
    return -1;
  }

  private replace(bucket: number, value: number, by: number): boolean {
    const at = this.find(bucket, value);
    if (at < 0) return false;
    this.slots[at] = by;
    return true;
  }

  private exchange(bucket: number, slot: number, fingerprint: number): number {
    const at = this.startOf(bucket) + slot;
    const before = this.slots[at]!;
    this.slots[at] = fingerprint;
    return before;
  }

  private startOf(bucket: number): number {
    return ((bucket & this.mask) >>> 0) * this.bucketSize;
  }
}
