import { BloomFullError, type BloomId } from 'nestjs-bloom/filter';
import { dumpChunks, type RedisBloomChunk } from '../dump/dump-chunks.js';
import { type CuckooState, writeCuckooHeader } from './cuckoo-header.js';
import { CuckooLayout } from './cuckoo-layout.js';
import { tablesErrorRate } from './cuckoo-model.js';
import { bucketsOf, type CuckooSettings, MAX_TABLE_BYTES, MAX_TABLES } from './cuckoo-size.js';
import { CuckooTable } from './cuckoo-table.js';
import { tooManyTables, fullAndNotGrowing, tableTooLarge } from '../peers.messages.js';

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
 * A cuckoo filter of Redis (`CF.*`) in the memory of this process: what `add` put in, `remove` takes out again.
 *
 * It keeps a fingerprint for each `add`, not for each id. Two ids of the same fingerprint and buckets, about as many as the error
 * rate says, look the same. So the one rule for `remove`: only an id that was added, and no more often than it was. See `remove`.
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
   * Adds an id (`CF.ADD`), once more if it is there: it takes as many removals to be gone. More than twice `bucketSize` times the same
   * id makes the filter grow.
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
   * Not for filters from which ids are removed: an id that was taken for there, because it looks the same as another, is gone as
   * soon as the other is removed.
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
   * How often an id seems to be there (`CF.COUNT`): never less than it was added and not removed. As Redis does, an id whose two
   * buckets are one is counted twice.
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
   * True does not prove that it was there: an id that was never added may have the fingerprint and a bucket of one that was, and
   * **takes that one out: from then on an id that exists is answered "absent"**. So remove ids only that are known to have been
   * added by `add`, such as a row that is being deleted, and each as often as it was added at most.
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

  /** Of all tables. */
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
   * What `CF.SCANDUMP` replies, without the empty reply at the end, and what `CF.LOADCHUNK` takes. Of an empty filter, which
   * `CF.SCANDUMP` leaves out, all chunks are given.
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
