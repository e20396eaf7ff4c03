import { type IdKey, isLongerThan } from '../../filter/index.js';
import { type BloomIdOrder, type BloomMark, markOf } from '../../rebuild/index.js';
import {
  type BloomVerdict,
  type CoveredIds,
  type MarksAnswer,
  type MarkEntries,
  type LookupOutcome,
  type StoredFilter,
  verdictOf,
} from '../../store/index.js';
import type { IdKeys } from '../id-keys.js';
import { compareKeys, coveredKeys, gapsIn, isOfOrder } from './id-order.js';
import type { TopUpSettings } from './top-up-options.js';

type Asked = Pick<StoredFilter, 'check' | 'checkOne'>;

/** A mark, among the keys of ids. */
export interface MarkedKey {
  readonly order: BloomIdOrder;
  /** Whether every row's id is of the order, so that another one is of no row. */
  readonly isOnly: boolean;
  readonly upTo: string;
}

/** Up to where the filter knows every id. Replaced as a whole, never changed. */
export interface Covered extends MarkedKey {
  /** Whether an id comes up to the mark, and in no gap. */
  readonly holds: (key: IdKey) => boolean;
  /** Ids further than this are refused, while what is known of the newest id is fresh. */
  readonly refused: { readonly from: string; readonly until: number } | undefined;
}

export interface CoverageContext {
  readonly settings: TopUpSettings;
  readonly keys: IdKeys;
  readonly maxIdBytes: number;
  /** Called for each lookup that was denied by the filter and is `beyond`. */
  readonly onBeyond: (ids: number) => void;
  /** Asks how far the filter has come, where that is due and nothing else asks. Never rejects. */
  readonly hear?: (() => Promise<unknown> | undefined) | undefined;
  /** Asks the database whether an integer is of no row; false where it is not known. Never rejects. */
  readonly isOfNoRow?: ((key: string) => Promise<boolean>) | undefined;
  /** Copies answer up to a mark that the store has lost, which is as true as before. */
  readonly outlivesStore: boolean;
}

/** The newest id is fresh for so many readings, and for this time at least. */
const FRESH_READINGS = 5;
const FRESH_MS = 5000;
/** Integers beyond the mark that may have been given to rows meanwhile. */
const NEAR = 1000n;

/**
 * Decides whether the filter would have an id that it lacks. A mark that is too old only makes more ids
 * unknown.
 */
export class Coverage {
  private covered: Covered | undefined;
  /** Ends when a mark is given up, or moves back: what was covered is not covered any more. */
  private era = { isOver: false };

  constructor(private readonly context: CoverageContext) {}

  update({ entries, ageMs = Infinity }: Pick<MarksAnswer, 'entries' | 'ageMs'>): void {
    // One that was given up leaves something.
    if (this.context.outlivesStore && Object.values(entries).every((text) => !text)) return;
    const before = this.covered;
    this.covered = entries.doubt ? undefined : this.coveredBy(entries, ageMs);
    if (!before || (this.covered && isUpTo(before, this.covered))) return;
    this.era.isOver = true;
    this.era = { isOver: false };
  }

  /** What a copy covers whose blocks are read after the call. Later marks say nothing of it. */
  ofCopy(): CoveredIds | undefined {
    const { covered, era } = this;
    return covered && { era, holds: covered.holds };
  }

  isBeyond(key: IdKey, covered = this.covered): boolean {
    const { maxIdBytes } = this.context;
    // No row has such an id: a rebuild fails on it, or leaves it out.
    if (isLongerThan(key, maxIdBytes)) return false;
    if (!covered) return true;
    if (covered.holds(key)) return false;
    const { order, isOnly, upTo, refused } = covered;
    if (!isOfOrder(order, key)) return !isOnly;
    if (compareKeys(order, key, upTo) <= 0) return true;
    const isRefused =
      refused !== undefined && performance.now() < refused.until && compareKeys(order, key, refused.from) > 0;
    return !isRefused;
  }

  /** Whether the id is beyond the mark and may be the next ones': an integer that comes soon after it. */
  isNear(key: IdKey): boolean {
    const isNext =
      this.covered?.order === 'integer' && isOfOrder('integer', key) && !isFar(key, this.covered);
    return isNext && this.isBeyond(key);
  }

  checkOne(store: Asked, key: IdKey): LookupOutcome | Promise<LookupOutcome> {
    const heard = this.context.hear?.();
    return heard ? heard.then(() => this.askOne(store, key)) : this.askOne(store, key);
  }

  private askOne(store: Asked, key: IdKey): LookupOutcome | Promise<LookupOutcome> {
    // Read before the filter is asked: an id added in between would be absent, and within a mark that moves.
    const { covered } = this;
    const outcome = store.checkOne(key);
    return typeof outcome === 'string'
      ? this.outcomeOf(outcome, key, covered)
      : outcome.then((known) => this.outcomeOf(known, key, covered));
  }

  async check(store: Asked, keys: readonly IdKey[]): Promise<BloomVerdict[]> {
    const heard = this.context.hear?.();
    if (heard) await heard;
    const { covered } = this;
    const verdicts = await store.check(keys);
    const outcomes = verdicts.map((verdict, i) =>
      verdict === 'absent' ? this.outcomeOf(verdict, keys[i]!, covered) : verdict,
    );
    return (await Promise.all(outcomes)).map((outcome) =>
      outcome === 'unknown' ? outcome : verdictOf(outcome),
    );
  }

  private outcomeOf(
    outcome: LookupOutcome,
    key: IdKey,
    covered: Covered | undefined,
  ): LookupOutcome | Promise<LookupOutcome> {
    if (outcome !== 'absent' || !this.isBeyond(key, covered)) return outcome;
    const { isOfNoRow } = this.context;
    if (!isOfNoRow || !isFar(key, covered)) return this.beyond();
    return isOfNoRow(key).then((isAbsent) => (isAbsent ? outcome : this.beyond()));
  }

  private beyond(): LookupOutcome {
    this.context.onBeyond(1);
    return 'beyond';
  }

  private coveredBy({ mark, newest, gaps }: MarkEntries, ageMs: number): Covered | undefined {
    const marked = mark ? readMark(mark, this.context) : undefined;
    if (!marked) return undefined;
    return {
      ...marked,
      holds: coveredKeys(marked.order, marked.upTo, gapsIn(marked.order, gaps)),
      refused: this.refusedBy(newest, marked.order, ageMs),
    };
  }

  private refusedBy(text: string | undefined, order: BloomIdOrder, ageMs: number): Covered['refused'] {
    const { settings, keys } = this.context;
    if (settings.slack === undefined || text === undefined || order !== 'integer') return undefined;
    const newest = markOf(text);
    const key = newest === undefined ? undefined : keyOfMark(keys, newest);
    if (key === undefined || !isOfOrder('integer', key)) return undefined;
    const freshMs = Math.max(FRESH_MS, FRESH_READINGS * settings.everyMs) - ageMs;
    return { from: String(BigInt(key) + settings.slack), until: performance.now() + freshMs };
  }
}

/** Whether it is an integer further beyond the mark than the next rows are. */
function isFar(key: IdKey, covered: Covered | undefined): key is string {
  if (covered?.order !== 'integer' || !isOfOrder('integer', key)) return false;
  return compareKeys('integer', key, String(BigInt(covered.upTo) + NEAR)) > 0;
}

/** Whether the first mark is not further than the second one. */
function isUpTo(one: MarkedKey, other: MarkedKey): boolean {
  return one.order === other.order && compareKeys(one.order, one.upTo, other.upTo) <= 0;
}

/** Undefined for a text that is not a mark, and for a mark that is not an id. */
export function readMark(
  text: string,
  { settings, keys }: Pick<CoverageContext, 'settings' | 'keys'>,
): MarkedKey | undefined {
  const mark = markOf(text);
  const order = mark === undefined ? undefined : orderOf(mark, settings);
  if (mark === undefined || order === undefined) return undefined;
  const upTo = keyOfMark(keys, mark);
  if (upTo === undefined || !isOfOrder(order, upTo)) return undefined;
  // A text of digits may be that of a column of texts.
  const isOnly = order === 'integer' && (settings.order !== undefined || typeof mark !== 'string');
  return { order, isOnly, upTo };
}

/** Undefined for a mark that is not an id, or not one of the order that the source names. */
export function orderOf(mark: BloomMark, { order }: Pick<TopUpSettings, 'order'>): BloomIdOrder | undefined {
  if (mark instanceof Date) return undefined;
  const found = isOfOrder('integer', String(mark)) ? 'integer' : 'text';
  return order === 'integer' && found === 'text' ? undefined : (order ?? found);
}

/** Undefined for a mark that is no text of an id. */
export function keyOfMark(keys: IdKeys, mark: BloomMark): string | undefined {
  try {
    const key = keys.of(mark);
    return typeof key === 'string' ? key : undefined;
  } catch {
    return undefined;
  }
}
