import { BloomConfigError, BloomIdError, BloomUnavailableError, type Clock } from '../../common/index.js';
import type { IdKey } from '../../filter/index.js';
import { type BloomIdSource, type BloomMark, markOf, textOfMark } from '../../rebuild/index.js';
import type { BloomVerdict } from '../../store/index.js';
import type { IdKeys } from '../id-keys.js';
import { addedOutOfOrder, heldTooLong, newestNotKnown } from '../service.messages.js';
import { type MarkedKey, readMark } from './coverage.js';
import { compareKeys, isOfOrder } from './id-order.js';
import { firstPlace, isAhead, ROWS_BEHIND } from './mark-place.js';
import type { TopUpSettings } from './top-up-options.js';
import type { Reading } from './top-up-reader.js';

export interface LocalAddsContext {
  readonly name: string;
  readonly source: BloomIdSource;
  readonly settings: TopUpSettings;
  readonly keys: IdKeys;
  readonly clock: Clock;
  /** Asks the filter that is live. */
  readonly check: (keys: readonly IdKey[]) => Promise<readonly BloomVerdict[]>;
  /** The mark of this process, by now. */
  readonly mark: () => string | undefined;
}

/** What was found at one moment. */
interface Look {
  /** Before the source was asked. */
  readonly at: number;
  /** No process had a candidate for its mark beyond this row by then; undefined where there was none. */
  readonly upTo: MarkedKey | undefined;
  /** The last integer that no process refuses; undefined where none is refused. */
  readonly last: string | undefined;
}

/** Looks that are kept, at most. */
const LOOKS = 8;
/** How long an add waits for the source. */
const WAIT_MS = 5000;

/**
 * Decides whether an id may be added to a filter that each process keeps in memory, and follows by itself:
 * no process may have answered "absent" for it, or do so before it has read its row.
 *
 * Suppose that this process saw at time s, at most `windowOf` before the add, that no process had a candidate
 * for its mark beyond row u. One beyond it was found after s. It becomes the mark by a reading that begins
 * later than s + `windowOf` + `drainMs` (`heldForLocalAdds`), when the row of the id is visible.
 */
export class LocalAdds {
  private looks: readonly Look[] = [];
  private highest: MarkedKey | undefined;
  private looking: Promise<void> | undefined;

  constructor(private readonly context: LocalAddsContext) {}

  /** To be called when ids begin again: what comes before the last mark may be new. */
  forget(): void {
    this.looks = [];
    this.highest = undefined;
  }

  /** Takes what a turn has found. */
  async record(at: number, reading?: Reading): Promise<void> {
    const { source, settings } = this.context;
    const found = await this.lastCandidate(reading);
    if (!found) return;
    this.raise(found.mark);
    const mark = this.context.mark();
    if (mark !== undefined) this.raise(markOf(mark));
    const newest = settings.slack === undefined ? undefined : (reading?.last ?? (await source.newest?.()));
    const last = this.looks.at(-1);
    if (last && at - last.at < windowOf(settings) / LOOKS) return;
    const look: Look = { at, upTo: this.highest, last: this.lastOf(newest) };
    this.looks = [...this.looks.slice(-LOOKS), look];
  }

  /**
   * @throws {BloomIdError} for an id that another process may deny by its own filter, unless this one has it.
   * @throws {BloomUnavailableError} when that cannot be known.
   */
  async admit(keys: readonly IdKey[]): Promise<void> {
    const { name, check } = this.context;
    const look = this.earliestLook() ?? (await this.lookNow());
    if (!look) throw new BloomUnavailableError(newestNotKnown(name));
    const deniable = keys.filter((key) => isDeniable(look, key));
    if (deniable.length === 0) return;
    const verdicts = await check(deniable);
    const absent = verdicts.indexOf('absent');
    if (absent >= 0) throw new BloomIdError(addedOutOfOrder(name, deniable[absent]!, look));
    if (verdicts.includes('unknown')) throw new BloomUnavailableError(newestNotKnown(name));
  }

  private earliestLook(): Look | undefined {
    const from = this.context.clock.now() - windowOf(this.context.settings);
    return this.looks.find(({ at }) => at >= from);
  }

  /** At the start, and when the turns of this process have stood still. */
  private async lookNow(): Promise<Look | undefined> {
    const { clock } = this.context;
    this.looking ??= this.record(clock.now())
      // The turn that comes reports it.
      .catch(() => {})
      .finally(() => (this.looking = undefined));
    const ended = new AbortController();
    await Promise.race([this.looking, clock.sleep(WAIT_MS, ended.signal).catch(() => {})]);
    ended.abort();
    return this.earliestLook();
  }

  /**
   * The row beyond which no process can have a candidate now, if there is one. A process that begins with few
   * rows has more of them before its first candidate than one that follows.
   */
  private async lastCandidate(reading?: Reading): Promise<{ readonly mark?: BloomMark } | undefined> {
    const { source, settings, clock } = this.context;
    if (!source.newest) return reading && { mark: reading.last ?? reading.since };
    const wallMs = clock.wall();
    const others = 2 * ROWS_BEHIND - 1;
    const hasMany = reading !== undefined && reading.idsRead > others;
    const far = hasMany ? reading.last : await source.newest(others);
    const last = reading?.last ?? (await source.newest());
    const isOfFew = far === undefined || (last !== undefined && isAhead(last, wallMs));
    if (isOfFew) return { mark: (await firstPlace(source, { settings, wallMs }))?.mark };
    if (reading?.place) return reading.place;
    // A source that does not know how many rows to leave out gives the last one.
    const isLast = far === last && !hasMany;
    return { mark: isLast ? last : (reading?.since ?? (await source.newest(ROWS_BEHIND))) };
  }

  private raise(mark: BloomMark | undefined): void {
    const read = mark === undefined ? undefined : readMark(textOfMark(mark), this.context);
    const { highest } = this;
    const isLower =
      read && highest?.order === read.order && compareKeys(read.order, read.upTo, highest.upTo) <= 0;
    if (read && !isLower) this.highest = read;
  }

  /** The last integer that no process refuses. */
  private lastOf(newest: BloomMark | undefined): string | undefined {
    const { slack } = this.context.settings;
    const read = newest === undefined ? undefined : readMark(textOfMark(newest), this.context);
    return slack === undefined || read?.order !== 'integer' ? undefined : String(BigInt(read.upTo) + slack);
  }
}

function isDeniable({ upTo, last }: Look, key: IdKey): boolean {
  if (!upTo) return false;
  if (!isOfOrder(upTo.order, key)) return upTo.isOnly;
  if (compareKeys(upTo.order, key, upTo.upTo) <= 0) return true;
  return last !== undefined && compareKeys(upTo.order, key, last) > 0;
}

/** How long before its add an id may have been taken, while others add later ones. */
function windowOf({ everyMs, overlapMs }: TopUpSettings): number {
  return Math.max(2 * everyMs, overlapMs / 2);
}

/**
 * The settings of a process that follows by itself, and hears of no add of another one.
 *
 * @throws {BloomConfigError} when a build would wait for its mark longer than it may stand still.
 */
export function heldForLocalAdds(
  settings: TopUpSettings,
  { name, drainMs, stallMs }: { readonly name: string; readonly drainMs: number; readonly stallMs: number },
): TopUpSettings {
  const overlapMs = Math.max(settings.overlapMs, drainMs + windowOf(settings));
  if (overlapMs >= stallMs) throw new BloomConfigError(heldTooLong(name, overlapMs, stallMs));
  return { ...settings, overlapMs };
}
