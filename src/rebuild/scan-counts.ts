import { BloomConfigError, BloomIdError, type Clock, printed } from '../common/index.js';
import { type BloomId, type IdKey, toIdKey } from '../filter/index.js';
import type { DeferringFilter, LocalFilter } from '../store/index.js';
import { SourceError } from './failure.js';
import type { PackedIds } from './packed-ids.js';
import type { RebuildJob } from './rebuild-job.js';
import { IdSample } from './id-sample.js';
import { badId } from './rebuild.messages.js';
import type { BloomIdSource } from './source.js';
import type { StallTimer } from './stall-timer.js';

export interface ScanOptions {
  readonly source: BloomIdSource;
  readonly toKey: (id: unknown) => IdKey;
  readonly spellsAs?: RebuildJob['spellsAs'];
  readonly filter: LocalFilter;
  /** Distinct ids that the filter may take. */
  readonly capacity: number;
  readonly watch: StallTimer;
  readonly clock: Clock;
  readonly onBadId?: 'fail' | 'skip';
  readonly onRead: (idsRead: number) => void;
  readonly onRetry?: (error: unknown) => void;
}

export interface ScanResult {
  readonly idsRead: number;
  readonly distinctIds: number;
  /** More distinct ids than the capacity: about so many. Their bits are not all in the filter. */
  readonly overflow: number | undefined;
  /** Ids that were left out, if any, and the first of them, shortened and escaped. */
  readonly bad: { readonly skipped: number; readonly example: string; readonly error: unknown } | undefined;
  /** Ids chosen at random from all that were read. */
  readonly sample: readonly IdKey[];
}

/** Adds the ids of a scan to its filter, and counts them. Past the capacity they are only counted. */
export class ScanCounts {
  idsRead = 0;

  /** A sample of the ids that the filter has taken, also of those that were in it before. */
  private readonly sample = new IdSample();
  private distinctIds = 0;
  private idsReadWhenFull = 0;
  private bad: ScanResult['bad'];
  private readonly deferring: DeferringFilter | undefined;
  private readonly filter: LocalFilter;

  constructor(private readonly options: ScanOptions) {
    this.deferring = options.filter.deferred?.();
    this.filter = this.deferring ?? options.filter;
  }

  /** @throws {SourceError} for a value that cannot be an id, unless such are skipped. */
  add(batch: readonly BloomId[], from: number, to: number): void {
    const { filter } = this;
    const { toKey } = this.options;
    for (let i = from; i < to; i++) {
      if (this.isFull) return this.countOnly(to - i);
      this.idsRead++;
      try {
        const key = keyOf(toKey, batch[i]);
        const isNew = addTo(filter, key);
        if (isNew) this.distinctIds++;
        if ((isNew || !filter.isElsewhere) && this.isSampled()) this.sample.take(ofItsOwn(key));
      } catch (error) {
        this.skip(error, batch[i]);
      }
    }
    this.countDeferred();
  }

  /** As `add`, of keys. */
  addPacked(ids: PackedIds, from: number, to: number): void {
    for (let i = from; i < to;) {
      if (this.isFull) return this.countOnly(to - i);
      const added = this.addRun(ids, i, to);
      if (added === 0) this.addOnePacked(ids, i);
      i += added || 1;
    }
    this.countDeferred();
  }

  /** Adds ids that do not get into the sample, as many as the filter adds at once; returns how many. */
  private addRun(ids: PackedIds, from: number, to: number): number {
    const { deferring, sample } = this;
    if (!deferring?.addRun || sample.passing === 0) return 0;
    const added = deferring.addRun(ids, from, Math.min(to, from + sample.passing));
    this.idsRead += added;
    sample.passing -= deferring.takenOfRun ?? added;
    return added;
  }

  private addOnePacked({ bytes, ends, areText }: PackedIds, i: number): void {
    const { filter } = this;
    const start = i === 0 ? 0 : ends[i - 1]!;
    const end = ends[i]!;
    this.idsRead++;
    try {
      // An empty key is refused as an empty id is.
      if (end === start) keyOf(toIdKey, areText ? '' : new Uint8Array(0));
      const isNew = addBytesTo(filter, bytes, start, end);
      if (isNew) this.distinctIds++;
      if ((isNew || !filter.isElsewhere) && this.isSampled()) this.sample.take(bytes.slice(start, end));
    } catch (error) {
      const key = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
      this.skip(error, areText ? key.toString() : key);
    }
  }

  /**
   * Sets some bits that were deferred; false when there are none. To be called until then, before the result
   * counts.
   */
  settle(): boolean {
    const isMore = this.deferring?.settleRegion() ?? false;
    this.countDeferred();
    return isMore;
  }

  result(): ScanResult {
    const { idsRead, distinctIds, bad } = this;
    const sample = this.sample.ids;
    const distinctShare = distinctIds / (this.idsReadWhenFull || idsRead);
    const overflow = distinctIds > this.options.capacity ? Math.ceil(idsRead * distinctShare) : undefined;
    return { idsRead, distinctIds, overflow, bad, sample };
  }

  private get isFull(): boolean {
    return this.distinctIds > this.options.capacity;
  }

  private countOnly(ids: number): void {
    this.idsReadWhenFull ||= this.idsRead;
    this.idsRead += ids;
  }

  /** Asked for each id that the filter has taken. */
  private isSampled(): boolean {
    if (this.sample.passing === 0) return true;
    this.sample.passing--;
    return false;
  }

  private countDeferred(): void {
    if (this.deferring) this.distinctIds += this.deferring.takeNew();
  }

  private skip(error: unknown, id: unknown): void {
    if (!isBadId(error)) throw error;
    if (this.options.onBadId !== 'skip') throw named(error, id);
    const { bad } = this;
    this.bad = bad
      ? { ...bad, skipped: bad.skipped + 1 }
      : { skipped: 1, example: printed(id), error: error.cause };
  }
}

/** A source may write the next id into the bytes of this one. */
export function ofItsOwn<Id extends BloomId>(id: Id): Id | Uint8Array {
  return id instanceof Uint8Array ? new Uint8Array(id) : id;
}

function isBadId(error: unknown): error is SourceError {
  return error instanceof SourceError && error.cause instanceof BloomIdError;
}

function named(error: SourceError, id: unknown): SourceError {
  return new SourceError(new BloomIdError(badId(error.message, id), { cause: error.cause }));
}

function addTo(filter: LocalFilter, key: IdKey): boolean {
  try {
    return filter.addKey(key);
  } catch (error) {
    throw new SourceError(error);
  }
}

function addBytesTo(filter: LocalFilter, bytes: Uint8Array, start: number, end: number): boolean {
  try {
    return filter.addBytes!(bytes, start, end);
  } catch (error) {
    throw new SourceError(error);
  }
}

function keyOf(toKey: (id: unknown) => IdKey, id: unknown): IdKey {
  try {
    return toKey(id);
  } catch (error) {
    // An option `normalize` that throws has met an id that it does not expect.
    const isNamed = error instanceof BloomIdError || error instanceof BloomConfigError;
    throw new SourceError(isNamed ? error : new BloomIdError(String(error), { cause: error }));
  }
}
