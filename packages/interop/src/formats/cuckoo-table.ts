import { BloomFormatError } from 'nestjs-bloom/filter';
import {
  bucketsOf,
  type CuckooGeometry,
  type CuckooSettings,
  isPowerOfTwo,
  MAX_BUCKET_SIZE,
  MAX_TABLE_BYTES,
  otherBucket,
} from './cuckoo-layout.js';
import { readUint64, writeUint64 } from './dump.js';
import { wrongCuckooHeader } from './formats.messages.js';

/** An empty slot. */
const EMPTY = 0;

/**
 * One hash table of a cuckoo filter: buckets of slots, a byte each. Buckets are numbered modulo 2^32; the
 * remainder modulo their number is taken here.
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
   * Puts a fingerprint into a full bucket in the place of another, which goes to its other bucket, and so on
   * until there is a free slot. False, and nothing is changed, when there is none after `maxIterations` of
   * them.
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

  /**
   * Moves all fingerprints that fit into one of the tables, which have no more buckets than this one; whether
   * this one is empty now.
   */
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

/** A filter as the first chunk of a dump and `CF.INFO` describe it. */
export interface CuckooState extends CuckooSettings {
  /** Fingerprints in the filter: adds less removals. */
  readonly ids: number;
  /** Removals since the tables were last compacted. */
  readonly deletes: number;
  /** Tables ("filters" in Redis): the first one and those it grew by. */
  readonly tables: number;
}

const HEADER_BYTES = 38;
/** RedisBloom counts them with 16 bits. */
const MOST_TABLES = 65_535;

export function writeCuckooHeader(state: CuckooState): Uint8Array {
  const header = new Uint8Array(HEADER_BYTES);
  const view = new DataView(header.buffer);
  writeUint64(view, 0, state.ids);
  writeUint64(view, 8, state.buckets);
  writeUint64(view, 16, state.deletes);
  writeUint64(view, 24, state.tables);
  view.setUint16(32, state.bucketSize, true);
  view.setUint16(34, state.maxIterations, true);
  view.setUint16(36, state.expansion, true);
  return header;
}

/** @throws {BloomFormatError} for what `CF.LOADCHUNK` refuses, and for filters that no command makes. */
export function readCuckooHeader(header: Uint8Array): CuckooState {
  if (header.length !== HEADER_BYTES) throw refused(`${HEADER_BYTES} bytes`, `${header.length}`);
  const view = new DataView(header.buffer, header.byteOffset, header.length);
  const state = {
    ids: readUint64(view, 0),
    buckets: readUint64(view, 8),
    deletes: readUint64(view, 16),
    tables: readUint64(view, 24),
    bucketSize: view.getUint16(32, true),
    maxIterations: view.getUint16(34, true),
    expansion: view.getUint16(36, true),
  };
  check(state);
  return state;
}

/** Bytes of each table. */
export function tableSizes(state: CuckooState): number[] {
  return Array.from({ length: state.tables }, (_, index) => bucketsOf(state, index) * state.bucketSize);
}

function check(state: CuckooState): void {
  const { ids, buckets, deletes, tables, bucketSize, maxIterations, expansion } = state;
  if (bucketSize < 1 || bucketSize > MAX_BUCKET_SIZE) {
    throw refused(`a bucket size of 1 to ${MAX_BUCKET_SIZE}`, `${bucketSize}`);
  }
  if (maxIterations < 1) throw refused('at least one iteration', `${maxIterations}`);
  if (expansion !== 0 && !isPowerOfTwo(expansion)) {
    throw refused('0 or a power of two as its expansion', `${expansion}`);
  }
  if (tables < 1 || tables > MOST_TABLES || (expansion === 0 && tables > 1)) {
    throw refused(
      expansion === 0 ? 'one table, as it does not grow' : `1 to ${MOST_TABLES} tables`,
      `${tables}`,
    );
  }
  if (!isPowerOfTwo(buckets)) throw refused('a power of two as its number of buckets', `${buckets}`);
  if (bucketsOf(state, tables - 1) * bucketSize > MAX_TABLE_BYTES) {
    throw refused(
      `tables of at most ${MAX_TABLE_BYTES} bytes`,
      `${tables} tables from ${buckets} buckets of ${bucketSize} on, each ${expansion} times the last`,
    );
  }
  const slots = tableSizes(state).reduce((sum, bytes) => sum + bytes, 0);
  if (ids > slots) throw refused(`at most an id for each of its ${slots} slots`, `${ids}`);
  if (!Number.isSafeInteger(deletes)) throw refused('less than 2^53 removals', `${deletes}`);
}

function refused(expected: string, got: string): BloomFormatError {
  return new BloomFormatError(wrongCuckooHeader(expected, got));
}
