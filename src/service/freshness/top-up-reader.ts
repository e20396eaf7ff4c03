import { type BloomEventListener, BloomIdError, type Clock, printed } from '../../common/index.js';
import { type BloomId, type IdKey, idNote } from '../../filter/index.js';
import {
  type BloomIdOrder,
  type BloomIdSource,
  type BloomMark,
  type BloomMarkedIds,
  expectAsync,
  isMark,
  StallTimer,
} from '../../rebuild/index.js';
import type { IdKeys } from '../id-keys.js';
import { orderOf } from './coverage.js';
import { compareKeys, isOfOrder } from './id-order.js';
import { MarkPlace, type PlacedMark } from './mark-place.js';
import { notAMark, notAscending, notOfOrder, orderedByMarks } from '../service.messages.js';
import type { TopUpSettings } from './top-up-options.js';

export interface TopUpReaderContext {
  readonly name: string;
  readonly settings: TopUpSettings;
  readonly keys: IdKeys;
  readonly add: (keys: readonly IdKey[]) => Promise<readonly boolean[]>;
  readonly emit: BloomEventListener;
  readonly stallMs: number;
  readonly onBadId: 'fail' | 'skip';
  readonly clock: Clock;
}

export interface Reading {
  /** Where it began; undefined for all rows. */
  readonly since: BloomMark | undefined;
  /** The mark of the last row; undefined when there was none. */
  readonly last: BloomMark | undefined;
  /** A row with enough others after it that the mark may move to it; undefined when there was none. */
  readonly place: PlacedMark | undefined;
  readonly idsRead: number;
  /** Ids that were new to the filter. */
  readonly added: number;
}

/** The ids that were read do not follow the mark: another order, or another type. */
export class OtherOrderError extends TypeError {}

const PIECE = 500;
/** About 30 MiB. */
const MAX_SEEN = 200_000;

export class TopUpReader {
  /** Ids of the last reading: what is new is read again until the mark passes it. */
  private seen = new Set<string>();

  constructor(private readonly context: TopUpReaderContext) {}

  /** To be called when it is not sure any more that the filter has what was added. */
  forget(): void {
    this.seen.clear();
  }

  /**
   * @param addsAll adds also what the last reading has added.
   * @throws {OtherOrderError} when the ids do not follow the mark.
   * @throws what the source throws, and what stops the filter from taking the ids.
   */
  async read(
    source: BloomIdSource,
    since: BloomMark | undefined,
    { signal, addsAll }: { readonly signal: AbortSignal; readonly addsAll: boolean },
  ): Promise<Reading> {
    const { name, emit, stallMs, settings, keys, clock, add } = this.context;
    const watch = new StallTimer(signal, stallMs);
    const state = { last: undefined as BloomMark | undefined, idsRead: 0, added: 0 };
    const bad = { skipped: 0, example: '', error: undefined as unknown };
    const seen = new Set<string>();
    const order = new Ascending(since, settings, keys);
    const found = new MarkPlace({ since, settings, wallMs: clock.wall() });
    const onRetry = (error: unknown) => emit({ type: 'source-retried', filter: name, error });
    const ids = source.idsSince!(since, { signal: watch.signal, onRetry });
    const batches = new Batches(expectAsync(ids, 'idsSince'), watch);
    const pieces: IdKey[] = [];
    const flush = async () => {
      if (pieces.length > 0) state.added += (await add(pieces.splice(0))).filter(Boolean).length;
      signal.throwIfAborted();
    };
    try {
      for (let batch = await batches.next(); batch; batch = await batches.next()) {
        const mark = 'mark' in batch ? batch.mark : undefined;
        if ('mark' in batch) this.checkMark(batch.mark);
        for (const id of batch.ids) {
          state.idsRead++;
          const key = this.keyOf(id, bad);
          if (key === undefined) continue;
          if (mark === undefined) {
            state.last = order.next(id, key);
            found.next(state.last, 1);
          }
          const note = idNote(key);
          if (addsAll || !this.seen.has(note)) pieces.push(key);
          if (seen.size < MAX_SEEN) seen.add(note);
          if (pieces.length === PIECE) await flush();
        }
        if (mark === undefined) continue;
        state.last = mark;
        found.next(mark, batch.ids.length);
      }
      await flush();
    } finally {
      watch.close();
      batches.end();
    }
    this.seen = seen;
    if (bad.skipped > 0) emit({ type: 'ids-skipped', filter: name, ...bad });
    return { ...state, since, place: found.place };
  }

  private checkMark(mark: unknown): void {
    if (!isMark(mark)) throw new TypeError(notAMark(mark));
    if (this.context.settings.ordered) throw new TypeError(orderedByMarks());
  }

  private keyOf(id: BloomId, bad: { skipped: number; example: string; error: unknown }): IdKey | undefined {
    try {
      return this.context.keys.ofAdded(id);
    } catch (error) {
      if (!(error instanceof BloomIdError) || this.context.onBadId === 'fail') throw error;
      if (bad.skipped++ === 0) Object.assign(bad, { example: printed(id), error });
      return undefined;
    }
  }
}

/** Expects ids to come in their order: a mark says that nothing before it is missing. */
class Ascending {
  private last: string | undefined;
  private kind: BloomIdOrder | undefined;

  constructor(
    private readonly since: BloomMark | undefined,
    private readonly settings: TopUpSettings,
    private readonly keys: IdKeys,
  ) {}

  next(id: BloomId, key: IdKey): BloomMark {
    if (id instanceof Uint8Array || typeof key !== 'string') throw this.otherOrder(id);
    const kind = (this.kind ??= this.kindBy(id));
    if (!isOfOrder(kind, key)) throw this.otherOrder(id);
    if (this.last !== undefined && compareKeys(kind, this.last, key) > 0)
      throw new TypeError(notAscending(this.last, id, kind));
    this.last = key;
    return id;
  }

  private kindBy(id: string | number | bigint): BloomIdOrder {
    const { since, settings, keys } = this;
    if (since === undefined) return orderOf(id, settings) ?? 'integer';
    const kind = orderOf(since, settings);
    const key = since instanceof Date ? undefined : keys.of(since);
    if (kind === undefined || typeof key !== 'string' || !isOfOrder(kind, key)) throw this.otherOrder(id);
    this.last = key;
    return kind;
  }

  private otherOrder(id: BloomId): OtherOrderError {
    return new OtherOrderError(notOfOrder(id, this.since));
  }
}

type Batch = { readonly ids: readonly BloomId[] } | BloomMarkedIds;

/** What a source yields, in batches. */
class Batches {
  private readonly iterator: AsyncIterator<BloomId | readonly BloomId[] | BloomMarkedIds>;
  private held: BloomMarkedIds | readonly BloomId[] | undefined;
  private hasEnded = false;

  constructor(
    yielded: AsyncIterable<BloomId | readonly BloomId[] | BloomMarkedIds>,
    private readonly watch: StallTimer,
  ) {
    this.iterator = yielded[Symbol.asyncIterator]();
  }

  async next(): Promise<Batch | undefined> {
    const { held } = this;
    this.held = undefined;
    if (held) return asBatch(held);
    const single: BloomId[] = [];
    while (!this.hasEnded) {
      const result = await this.watch.wait(this.iterator.next());
      if (result.done) {
        this.hasEnded = true;
        break;
      }
      const { value } = result;
      if (isBatch(value)) {
        if (single.length === 0) return asBatch(value);
        this.held = value;
        break;
      }
      single.push(value instanceof Uint8Array ? new Uint8Array(value) : value);
      if (single.length === PIECE) break;
    }
    return single.length > 0 ? { ids: single } : undefined;
  }

  /** The clean-up of a source that hangs may never end: it is started, not awaited. */
  end(): void {
    if (!this.hasEnded) void this.iterator.return?.(undefined)?.catch(() => {});
  }
}

function isBatch(
  value: BloomId | readonly BloomId[] | BloomMarkedIds,
): value is BloomMarkedIds | readonly BloomId[] {
  return Array.isArray(value) || (typeof value === 'object' && value !== null && 'ids' in value);
}

function asBatch(value: BloomMarkedIds | readonly BloomId[]): Batch {
  return 'ids' in value ? value : { ids: value };
}
