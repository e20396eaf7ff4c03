import { BloomFormatError } from 'nestjs-bloom/filter';
import { readUint64, writeUint64 } from '../dump/uint64.js';
import {
  bucketsOf,
  type CuckooSettings,
  isPowerOfTwo,
  MAX_BUCKET_SIZE,
  MAX_TABLE_BYTES,
} from './cuckoo-size.js';
import { wrongCuckooHeader } from '../peers.messages.js';

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
