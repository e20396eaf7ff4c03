import { BloomFullError, type BloomId } from 'nestjs-bloom/filter';
import {
  bucketsOf,
  CuckooLayout,
  type CuckooSettings,
  MAX_TABLE_BYTES,
  MAX_TABLES,
  tablesErrorRate,
} from './cuckoo-layout.js';
import {
  type CuckooState,
  CuckooTable,
  readCuckooHeader,
  tableSizes,
  writeCuckooHeader,
} from './cuckoo-table.js';
import {
  changedDump,
  checkSameHeader,
  dumpChunks,
  DumpParts,
  type RedisBloomChunk,
  refusedDump,
} from './dump.js';
import { fullAndNotGrowing, tableTooLarge, tooManyTables } from './formats.messages.js';

/** What the slots of a filter say about it. */
export interface CuckooEstimate {
  /** Fingerprints in the filter: adds less removals. */
  readonly ids: number;
  /** Share of the slots that are taken. */
  readonly load: number;
  /** Share of absent ids answered "maybe", by the fingerprints in each table. */
  readonly errorRate: number;
}

/** Compaction comes when this share of the ids was removed. */
const COMPACTION_SHARE = 0.1;

/**
 * A cuckoo filter of Redis (`CF.*`) in the memory of this process: what `add` put in, `remove` takes out
 * again.
 *
 * It keeps a fingerprint for each `add`, not for each id. Two ids of the same fingerprint and buckets, about
 * as many as the error rate says, look the same. So the one rule for `remove`: only an id that was added, and
 * no more often than it was. See `remove`.
 */
export class CuckooFilter {
  private readonly layout: CuckooLayout;
  private readonly tables: CuckooTable[];
  private ids: number;
  private deletes: number;

  /** @internal `cuckoo` makes filters. */
  constructor(
    private readonly settings: CuckooSettings,
    filled: { readonly tables: CuckooTable[]; readonly ids: number; readonly deletes: number } = {
      tables: [new CuckooTable(settings)],
      ids: 0,
      deletes: 0,
    },
  ) {
    this.layout = new CuckooLayout(settings);
    this.tables = filled.tables;
    this.ids = filled.ids;
    this.deletes = filled.deletes;
  }

  /**
   * Adds an id (`CF.ADD`), once more if it is there: it takes as many removals to be gone. More than twice
   * `bucketSize` times the same id makes the filter grow.
   *
   * @throws {BloomIdError} when the value is not an id.
   * @throws {BloomFullError} when the filter is full and does not grow, or has 32 tables.
   */
  add(id: BloomId): void {
    this.layout.locate(id);
    this.insert();
  }

  /**
   * Adds an id unless it seems to be there (`CF.ADDNX`); true when it was added.
   *
   * Not for filters from which ids are removed: an id that was taken for there, because it looks the same as
   * another, is gone as soon as the other is removed.
   *
   * @throws {BloomIdError} when the value is not an id.
   * @throws {BloomFullError} when the filter is full and does not grow, or has 32 tables.
   */
  addIfAbsent(id: BloomId): boolean {
    if (this.mightContain(id)) return false;
    this.insert();
    return true;
  }

  /**
   * False: the id is not in the filter. True: it is, or the error rate struck.
   *
   * @throws {BloomIdError} when the value is not an id.
   */
  mightContain(id: BloomId): boolean {
    const { layout, tables } = this;
    layout.locate(id);
    const { first, second, fingerprint } = layout;
    for (let i = tables.length - 1; i >= 0; i--) {
      if (tables[i]!.contains(first, second, fingerprint)) return true;
    }
    return false;
  }

  /**
   * How often an id seems to be there (`CF.COUNT`): never less than it was added and not removed. As Redis
   * does, an id whose two buckets are one is counted twice.
   *
   * @throws {BloomIdError} when the value is not an id.
   */
  count(id: BloomId): number {
    const { layout, tables } = this;
    layout.locate(id);
    const { first, second, fingerprint } = layout;
    return tables.reduce(
      (sum, table) => sum + table.count(first, fingerprint) + table.count(second, fingerprint),
      0,
    );
  }

  /**
   * Removes an id, once (`CF.DEL`); false when it is certainly not in the filter, and nothing is changed.
   *
   * True does not prove that it was there: an id that was never added may have the fingerprint and a bucket
   * of one that was, and **takes that one out: from then on an id that exists is answered "absent"**. So
   * remove ids only that are known to have been added by `add`, such as a row that is being deleted, and each
   * as often as it was added at most.
   *
   * @throws {BloomIdError} when the value is not an id.
   */
  remove(id: BloomId): boolean {
    const { layout, tables } = this;
    layout.locate(id);
    const { first, second, fingerprint } = layout;
    if (!tables.findLast((table) => table.remove(first, second, fingerprint))) return false;
    this.ids--;
    this.deletes++;
    if (tables.length > 1 && this.deletes > this.ids * COMPACTION_SHARE) this.compact();
    return true;
  }

  /** Sum over all tables. */
  get bytes(): number {
    return this.tables.reduce((sum, { slots }) => sum + slots.length, 0);
  }

  estimate(): CuckooEstimate {
    const loads = this.tables.map((table, index) => ({
      buckets: bucketsOf(this.settings, index),
      fingerprints: table.countFingerprints(),
    }));
    return { ids: this.ids, load: this.ids / this.bytes, errorRate: tablesErrorRate(loads) };
  }

  describe(): CuckooState {
    return { ...this.settings, ids: this.ids, deletes: this.deletes, tables: this.tables.length };
  }

  /**
   * What `CF.SCANDUMP` replies, without the empty reply at the end, and what `CF.LOADCHUNK` takes. Of an
   * empty filter, which `CF.SCANDUMP` leaves out, all chunks are given.
   */
  write(): RedisBloomChunk[] {
    return dumpChunks(
      writeCuckooHeader(this.describe()),
      this.tables.map(({ slots }) => slots.slice()),
    );
  }

  /** Adds the id that was located last. */
  private insert(): void {
    const { layout, tables, settings } = this;
    const { first, second, fingerprint } = layout;
    if (tables.length >= MAX_TABLES) {
      throw new BloomFullError(tooManyTables(MAX_TABLES - 1, tables.length));
    }
    const isInserted =
      tables.findLast((table) => table.insert(first, second, fingerprint)) !== undefined ||
      tables.at(-1)!.evict(first, fingerprint, settings.maxIterations);
    if (!isInserted) this.grow().insert(first, second, fingerprint);
    this.ids++;
  }

  private grow(): CuckooTable {
    const { settings, tables } = this;
    if (settings.expansion === 0) {
      throw new BloomFullError(fullAndNotGrowing(this.ids));
    }
    const geometry = { buckets: bucketsOf(settings, tables.length), bucketSize: settings.bucketSize };
    if (geometry.buckets * geometry.bucketSize > MAX_TABLE_BYTES) {
      throw new BloomFullError(tableTooLarge(MAX_TABLE_BYTES, geometry.buckets, geometry.bucketSize));
    }
    const table = new CuckooTable(geometry);
    tables.push(table);
    return table;
  }

  /** Moves fingerprints from the newest tables into older ones, and drops the tables that are empty then. */
  private compact(): void {
    const { tables } = this;
    while (tables.length > 1 && tables.at(-1)!.moveInto(tables.slice(0, -1))) tables.pop();
    this.deletes = 0;
  }
}

const WORDS = { dump: "a cuckoo filter's dump", part: 'table', command: 'CF.SCANDUMP' };

/**
 * Takes the chunks of a dump as `CF.LOADCHUNK` does, but only all of them, and of one moment as far as that
 * can be known: fingerprints move within a table and from table to table, so one that was on its way while
 * the dump was taken would be an id that is denied. The header that is asked for again after the last chunk
 * shows most writes of that time, but not removals that were followed by a compaction, which sets their
 * number back, and as many adds.
 *
 * @throws {BloomFormatError}
 */
export function loadCuckoo(chunks: Iterable<RedisBloomChunk>): CuckooFilter {
  const [head, ...others] = chunks;
  if (head === undefined) {
    throw refusedDump(WORDS, 'a header', 'no chunks, as CF.SCANDUMP replies for an empty filter');
  }
  if (head.iterator !== 1) throw refusedDump(WORDS, 'the chunk of iterator 1 first', `${head.iterator}`);
  const header = readCuckooHeader(head.data);
  const parts = new DumpParts(tableSizes(header), WORDS);
  for (const chunk of others) {
    if (chunk.iterator === 1) checkSameHeader(head.data, chunk.data, WORDS);
    else parts.place(chunk);
  }
  const tables = parts
    .join()
    .map(
      (slots, index) =>
        new CuckooTable({ buckets: bucketsOf(header, index), bucketSize: header.bucketSize }, slots),
    );
  const fingerprints = tables.reduce((sum, table) => sum + table.countFingerprints(), 0);
  if (fingerprints !== header.ids) {
    throw changedDump(
      WORDS,
      `${header.ids} fingerprints, as its header says`,
      `${fingerprints} in its tables`,
    );
  }
  return new CuckooFilter(header, { tables, ids: header.ids, deletes: header.deletes });
}
