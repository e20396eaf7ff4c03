import type { Clock } from '../../common/index.js';
import type { BloomId, IdKey } from '../../filter/index.js';
import {
  arePacked,
  type BloomIdsContext,
  type BloomIdSource,
  expectAsync,
  markOf,
  openedLater,
  type Pack,
  type PackedIds,
  rowsThere,
  textOfMark,
} from '../../rebuild/index.js';
import type { BloomVerdict, HighWaterMarks } from '../../store/index.js';
import type { IdKeys } from '../id-keys.js';
import { Candidates } from './candidates.js';
import { type MarkedKey, readMark } from './coverage.js';
import { type AuditedMark, MarkAudit } from './mark-audit.js';
import { firstPlace, idsAfter, likeMark, type PlacedMark } from './mark-place.js';
import { compareKeys, type Gap, gapsAfter, gapsIn, gapsOf, textOfGaps, withGaps } from './id-order.js';
import { rowsMissing } from '../service.messages.js';
import type { TopUpSettings } from './top-up-options.js';

type Ids = BloomId | readonly BloomId[] | PackedIds;

export interface BuildMarkContext {
  readonly source: BloomIdSource;
  readonly stored: HighWaterMarks;
  readonly settings: TopUpSettings;
  readonly keys: IdKeys;
  readonly clock: Clock;
  readonly stallMs: number;
  /** Asks the filter that is live. */
  readonly check: (keys: readonly IdKey[]) => Promise<readonly BloomVerdict[]>;
  readonly onError: (error: unknown) => void;
  /** Called when the mark was given up, since the filter lacks rows up to it. */
  readonly onMissing: (mark: string, reason: string) => void;
}

/** Number of the last rows that are looked for in the filter. */
const LAST_ROWS = 1000;
const NOTE_TRIES = 3;
/** How long a rebuild waits for transactions to end, and how often it looks. */
const SETTLE_MS = 30_000;
const LOOK_MS = 100;
/** A process that follows notes something within this time, or within three turns. */
const FOLLOWED_MS = 120_000;

/**
 * The mark that a rebuild sets where there is none, or no process moves it: a row that was settled
 * (`Candidates`) before the rebuild reads the source, with others after it. By then all rows before it are
 * visible, and read. Where there is a mark, and ids are in order, it checks that the live filter has the rows
 * up to it, and whether rows are in the gaps.
 *
 * The order may still reach a gap without rows, behind an import far ahead. So a rebuild that finds it empty
 * records the newest row with it. A later one that finds it empty covers it, if the mark had passed that row
 * when that rebuild began: by then rows had been added beyond the first ones.
 */
export class BuildMark {
  /** What the rebuild reads in place of the source. */
  readonly source: BloomIdSource;
  private preparing: Promise<void> | undefined;
  private place: (PlacedMark & { readonly at: number }) | undefined;
  private readonly candidates: Candidates;
  private before = '';
  private gaps: readonly Gap[] = [];
  /** New form of gaps, by their texts; undefined for gaps that are covered from then on. */
  private readonly seen = new Map<string, Gap | undefined>();
  private isDoubted = false;
  private isAudited = false;
  private isTooEarly = false;
  /** Whether no process moves the mark. */
  private isUnmoved = true;

  constructor(private readonly context: BuildMarkContext) {
    const { source, settings } = context;
    this.candidates = new Candidates(settings.overlapMs);
    this.source = {
      ids: (idsContext) => openedLater((pack) => this.begin(idsContext, pack)),
      count: async () => {
        await this.prepareOnce();
        return source.count?.();
      },
      idsSince: source.idsSince?.bind(source),
      newest: source.newest?.bind(source),
    };
  }

  /** To be called when the rebuild went live, having read all rows. */
  async published(): Promise<void> {
    const { source, stored, settings, onError } = this.context;
    const { place, before, isTooEarly, isUnmoved, isDoubted, isAudited, candidates } = this;
    try {
      if (isDoubted && isAudited)
        await stored.record({ holder: undefined, expectedMark: undefined, entries: { doubt: '' } });
      const gaps = await this.recordGaps();
      // The process that follows moves a mark further; only one that is too far is replaced then.
      const isFurther = place !== undefined && this.isFurther(place);
      if (!place || isTooEarly || (isFurther && !isUnmoved)) return;
      if (!candidates.isSame(await source.openTransactions?.())) return;
      const entries = {
        mark: textOfMark(place.mark),
        ...(settings.ordered && {
          gaps: withGaps(gaps, isFurther ? gapsAfter(place.gaps, markOf(before)) : place.gaps),
        }),
      };
      await stored.record({ holder: undefined, expectedMark: before, entries });
    } catch (error) {
      onError(error);
    }
  }

  private isFurther({ mark }: PlacedMark): boolean {
    const before = this.marked(this.before);
    const after = this.marked(textOfMark(mark));
    return before && after ? compareKeys(before.order, after.upTo, before.upTo) >= 0 : false;
  }

  /** Returns the gaps that stay. The process that follows may change marks and gaps at any time. */
  private async recordGaps(): Promise<string | undefined> {
    const { stored } = this.context;
    for (let tries = 0; ; tries++) {
      const { entries } = await stored.ask({ holder: '-', lifeMs: 0 });
      const kept = gapsOf(entries.gaps).flatMap((gap) => {
        const text = textOfGaps([gap]);
        return this.seen.has(text) ? (this.seen.get(text) ?? []) : gap;
      });
      const gaps = textOfGaps(kept);
      if (gaps === (entries.gaps ?? '') || tries === NOTE_TRIES) return entries.gaps;
      if (await stored.record({ holder: undefined, expectedMark: entries.mark ?? '', entries: { gaps } }))
        return gaps;
    }
  }

  private begin(context: BloomIdsContext, pack: Pack): AsyncIterator<Ids> {
    const { source } = this.context;
    let inner: AsyncIterator<Ids> | undefined;
    let audit: MarkAudit | undefined;
    const open = async () => {
      await this.prepareOnce();
      await this.settle(context.signal);
      audit = this.newAudit();
      const ids: AsyncIterable<Ids> = pack(expectAsync(source.ids(context), 'ids'));
      inner = ids[Symbol.asyncIterator]();
      return inner;
    };
    const next = async () => {
      const result = await (inner ?? (await open())).next();
      if (result.done) await this.conclude(audit);
      else
        audit?.read(
          Array.isArray(result.value) || arePacked(result.value) ? result.value : [result.value as BloomId],
        );
      return result;
    };
    return {
      next: () => (inner && !audit ? inner.next() : next()),
      return: async (value?: unknown) => (await inner?.return?.(value)) ?? { done: true, value: undefined },
    };
  }

  /** It waits until its place is settled, if no process moves the mark and no transaction takes too long. */
  private async settle(signal: AbortSignal): Promise<void> {
    const { clock, settings, stallMs, onError } = this.context;
    const { place, isUnmoved } = this;
    if (!place) return;
    const waitMs = place.at + settings.overlapMs - clock.now();
    if (waitMs > 0 && isUnmoved) await clock.sleep(Math.ceil(waitMs), signal);
    const until = clock.now() + Math.min(SETTLE_MS, (stallMs - settings.overlapMs) / 2);
    this.isTooEarly = true;
    try {
      while (!(await this.isSettled())) {
        if (!isUnmoved || clock.now() >= until) return;
        await clock.sleep(LOOK_MS, signal);
      }
      this.isTooEarly = false;
    } catch (error) {
      signal.throwIfAborted();
      onError(error);
    }
  }

  private async isSettled(): Promise<boolean> {
    const { clock, source } = this.context;
    return this.candidates.look(clock.now(), await source.openTransactions?.()).settled !== undefined;
  }

  private newAudit(): MarkAudit | undefined {
    const { keys, check } = this.context;
    const mark = this.marked(this.before);
    return mark && new MarkAudit({ mark, gaps: this.gaps, keys, check });
  }

  /** Undefined unless ids are in order. */
  private marked(text: string): MarkedKey | undefined {
    const { settings, keys } = this.context;
    return settings.ordered ? readMark(text, { settings, keys }) : undefined;
  }

  /** If a row far ahead was taken for the mark, the missing rows are the last ones of all. */
  private async conclude(audit: MarkAudit | undefined): Promise<void> {
    if (!audit) return;
    const { source, keys, onError } = this.context;
    try {
      const last = this.place ? await idsAfter(source, this.place.mark, LAST_ROWS) : [];
      const audited = await audit.result(last);
      const missing = await rowsThere(source, audited.missing, (id) => keys.of(id as BloomId));
      if (missing.length > 0) {
        await this.doubt({ ...audited, missing: missing.map(String) });
        return;
      }
      this.isAudited = audited.isKnown;
      await this.lookAtGaps();
    } catch (error) {
      onError(error);
    }
  }

  private async lookAtGaps(): Promise<void> {
    const { gaps, context } = this;
    const empty = new Set<Gap>();
    for (const gap of gaps) if (await this.isEmpty(gap)) empty.add(gap);
    const mark = this.marked(this.before);
    // After the gaps: rows that came in the meantime do not show that the order has moved on.
    const newest = gaps.length > 0 ? await context.source.newest?.() : undefined;
    const last = newest === undefined ? undefined : this.marked(textOfMark(newest));
    if (!mark || last?.order !== 'integer') return;
    for (const gap of gaps) {
      const then = gap.newest;
      const hasPassed = then !== undefined && compareKeys('integer', mark.upTo, then) > 0;
      // That row may have been deleted.
      const isKept = then !== undefined && compareKeys('integer', then, last.upTo) < 0;
      const noted = isKept ? then : String(BigInt(last.upTo));
      const after = { ...gap, newest: empty.has(gap) ? noted : undefined };
      this.seen.set(textOfGaps([gap]), empty.has(gap) && hasPassed ? undefined : after);
    }
  }

  private async isEmpty({ from, to }: Gap): Promise<boolean> {
    const mark = markOf(this.before);
    if (mark === undefined) return false;
    const since = from === undefined ? undefined : likeMark(mark, BigInt(from));
    const [first] = await idsAfter(this.context.source, since, 1);
    return first === undefined || BigInt(first as string) >= BigInt(to);
  }

  /** Gives the mark up, whatever it is by now, and has this rebuild set another one. */
  private async doubt({ missing, asked }: AuditedMark): Promise<void> {
    const { stored, onMissing } = this.context;
    const mark = this.before;
    this.isAudited = false;
    const doubt = rowsMissing({ mark: String(markOf(mark)), missing, asked });
    this.before = '';
    await stored.record({
      holder: undefined,
      expectedMark: undefined,
      entries: { mark: '', newest: '', doubt },
    });
    onMissing(mark, doubt);
  }

  private prepareOnce(): Promise<void> {
    return (this.preparing ??= this.prepare());
  }

  private async prepare(): Promise<void> {
    const { source, stored, settings, clock, onError } = this.context;
    try {
      const { entries, ageMs = Infinity } = await stored.ask({ holder: '-', lifeMs: 0 });
      this.before = entries.mark ?? '';
      this.isUnmoved = this.before === '' || ageMs > Math.max(FOLLOWED_MS, 3 * settings.everyMs);
      this.gaps = gapsIn(this.marked(this.before)?.order, entries.gaps);
      this.isDoubted = entries.doubt !== undefined;
      if (!source.newest) return;
      this.candidates.look(clock.now(), await source.openTransactions?.());
      const place = await firstPlace(source, { settings, wallMs: clock.wall() });
      this.place = place && { ...place, at: clock.now() };
      if (this.place) this.candidates.keep(this.place, this.place.at);
    } catch (error) {
      onError(error);
    }
  }
}
