import { anyError } from 'nestjs-bloom/internal';
import { bucketsOf, type CuckooSettings, MAX_TABLES } from './cuckoo-size.js';

/** Values of a fingerprint. */
const FINGERPRINTS = 255;

/** How full a table is. */
export interface TableLoad {
  readonly buckets: number;
  readonly fingerprints: number;
}

/**
 * The chance that an absent id finds its fingerprint in one of the tables.
 *
 * It meets as many fingerprints as two buckets hold on average, each of which differs from its own with a chance of 254/255: little
 * less than 2 · fingerprints / (255 · buckets) for a table.
 */
export function tablesErrorRate(tables: readonly TableLoad[]): number {
  return anyError(tables.map(tableErrorRate));
}

/**
 * The same of a filter that holds `ids` ids. With an expansion of 1 it does not matter which table holds them. With a larger one this is
 * the highest it can be: the oldest and smallest tables are taken to be full, which they nearly are.
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
