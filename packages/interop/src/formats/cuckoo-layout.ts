import { BloomConfigError, type BloomId } from 'nestjs-bloom/filter';
import { anyError, checkInteger } from 'nestjs-bloom/internal';
import { ByteSink } from './byte-sink.js';
import { MurmurHash64A } from './hash/hashes.js';
import { LAYOUT_NUMBERS } from './layout-numbers.js';
import { putTextOrBytes } from './peer-id.js';
import { wrongBuckets } from './formats.messages.js';

/** The arguments of `CF.RESERVE`. */
export interface CuckooTarget {
  /**
   * Fingerprints that the first table has room for; the number of buckets is rounded up to a power of two.
   * Default 1024.
   */
  readonly capacity?: number | undefined;
  /** Fingerprints in a bucket, 1 to 255. Default 2. */
  readonly bucketSize?: number | undefined;
  /** Fingerprints that one `add` moves before the filter grows. Default 20. */
  readonly maxIterations?: number | undefined;
  /**
   * Buckets of a further table, as a multiple of the last one's; rounded up to a power of two. 0: does not
   * grow. Default 1.
   */
  readonly expansion?: number | undefined;
}

/** The size of one table. */
export interface CuckooGeometry {
  /** A power of two. */
  readonly buckets: number;
  readonly bucketSize: number;
}

/** How a filter begins and grows. */
export interface CuckooSettings extends CuckooGeometry {
  /** Buckets of the first table. */
  readonly buckets: number;
  readonly maxIterations: number;
  readonly expansion: number;
}

/** Redis adds nothing to a filter of this many tables (`bf.cf-max-expansions`). */
export const MAX_TABLES = 32;
export const MAX_BUCKET_SIZE = 255;
const MAX_ITERATIONS = 65_535;
const MAX_EXPANSION = 32_768;
/** 4 GiB, a byte for each fingerprint. */
export const MAX_TABLE_BYTES = 2 ** 32;
export const MAX_CAPACITY = 2 ** 30;

/**
 * What `CF.RESERVE` makes of its arguments.
 *
 * @throws {BloomConfigError} for what Redis 8 refuses too.
 */
export function cuckooSize(target: CuckooTarget): CuckooSettings {
  const { capacity = 1024, bucketSize = 2, maxIterations = 20, expansion = 1 } = target;
  checkInteger('bucketSize', bucketSize, { min: 1, max: MAX_BUCKET_SIZE });
  checkInteger('maxIterations', maxIterations, { min: 1, max: MAX_ITERATIONS });
  checkInteger('expansion', expansion, { min: 0, max: MAX_EXPANSION });
  checkInteger('capacity (of a cuckoo filter, twice its bucketSize at least)', capacity, {
    min: 2 * bucketSize,
    max: MAX_CAPACITY,
  });
  return {
    buckets: nextPowerOfTwo(Math.floor(capacity / bucketSize)),
    bucketSize,
    maxIterations,
    expansion: expansion === 0 ? 0 : nextPowerOfTwo(expansion),
  };
}

/** Buckets of table `index`, counted from 0. */
export function bucketsOf({ buckets, expansion }: CuckooSettings, index: number): number {
  return buckets * expansion ** index;
}

/** @throws {BloomConfigError} when a process cannot hold a table of this size. */
function checkCuckooGeometry({ buckets, bucketSize }: CuckooGeometry): void {
  checkInteger('bucketSize', bucketSize, { min: 1, max: MAX_BUCKET_SIZE });
  checkInteger('buckets', buckets, { min: 1, max: MAX_TABLE_BYTES });
  if (isPowerOfTwo(buckets)) return;
  throw new BloomConfigError(wrongBuckets(buckets));
}

export function isPowerOfTwo(value: number): boolean {
  return value >= 1 && nextPowerOfTwo(value) === value;
}

/** @param value at least 1 */
function nextPowerOfTwo(value: number): number {
  let power = 1;
  while (power < value) power *= 2;
  return power;
}

/** Multiplier of MurmurHash2. */
const MULTIPLIER = 0x5bd1e995;

/**
 * Layout 7, `cuckoo`, of one table: an id is a fingerprint of one byte in one of two buckets.
 *
 * h = MurmurHash64A with seed 0; fingerprint = h mod 255 + 1; buckets h and h xor fingerprint · 0x5bd1e995,
 * modulo their number. As that is a power of two up to 2^32, the lower halves of both will do.
 */
export class CuckooLayout implements CuckooGeometry {
  readonly kind = 'cuckoo';
  readonly buckets: number;
  readonly bucketSize: number;

  /** Fingerprint of the id last located, 1 to 255: 0 is an empty slot. */
  fingerprint = 0;
  /** Hash of the id last located, modulo 2^32. Its remainder is the number of the first bucket. */
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

  /**
   * The bytes of an id that are hashed: to compare with the peer when the two do not find each other's ids.
   */
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

/** Values of a fingerprint. */
const FINGERPRINTS = 255;

/** How full a table is. */
interface TableLoad {
  readonly buckets: number;
  readonly fingerprints: number;
}

/**
 * The chance that an absent id finds its fingerprint in one of the tables.
 *
 * It meets as many fingerprints as two buckets hold on average, each of which differs from its own with a
 * chance of 254/255: little less than 2 · fingerprints / (255 · buckets) for a table.
 */
export function tablesErrorRate(tables: readonly TableLoad[]): number {
  return anyError(tables.map(tableErrorRate));
}

/**
 * The same of a filter that holds `ids` ids. With an expansion of 1 it does not matter which table holds
 * them. With a larger one this is the highest it can be: the oldest and smallest tables are taken to be full,
 * which they nearly are.
 */
export function cuckooErrorRate(settings: CuckooSettings, ids: number): number {
  const tables: TableLoad[] = [];
  const most = settings.expansion === 0 ? 1 : MAX_TABLES;
  for (let rest = ids; rest > 0 && tables.length < most;) {
    const buckets = bucketsOf(settings, tables.length);
    const fingerprints = Math.min(rest, buckets * settings.bucketSize);
    tables.push({ buckets, fingerprints });
    rest -= fingerprints;
  }
  return tablesErrorRate(tables);
}

function tableErrorRate({ buckets, fingerprints }: TableLoad): number {
  const inBucket = fingerprints / buckets;
  const logOther = Math.log1p(-1 / FINGERPRINTS);
  // Both buckets are one when the fingerprint is a multiple of the number of buckets.
  const single = Math.floor(FINGERPRINTS / buckets) / FINGERPRINTS;
  return -(single * Math.expm1(inBucket * logOther) + (1 - single) * Math.expm1(2 * inBucket * logOther));
}
