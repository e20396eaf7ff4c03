import type { BloomEventListener, Clock } from '../../common/index.js';
import { type BloomIdSource, type BloomMark, markOf, textOfMark } from '../../rebuild/index.js';
import type { MarkEntries } from '../../store/index.js';
import { markNotRead, markWentBack } from '../service.messages.js';
import { OtherOrderError, type Reading, type TopUpReader } from './top-up-reader.js';
import { Candidates } from './candidates.js';
import { gapsAfter, largestGaps, withGaps } from './id-order.js';
import type { PlacedMark } from './mark-place.js';
import { orderOf } from './coverage.js';
import type { TopUpSettings } from './top-up-options.js';

export interface TopUpContext {
  readonly name: string;
  readonly source: BloomIdSource;
  readonly settings: TopUpSettings;
  readonly clock: Clock;
  readonly emit: BloomEventListener;
  readonly reader: TopUpReader;
  readonly isKnown: (id: string | number | bigint) => Promise<boolean>;
  /** False, and nothing is recorded, when the mark is not the expected one. */
  readonly record: (expectedMark: string, entries: MarkEntries) => Promise<boolean>;
  /** Asks for a rebuild, which sets the mark. Returns at once. */
  readonly askForRebuild: () => void;
}

interface Advance {
  readonly settled: PlacedMark | undefined;
  /** Where the reading began, if that was not the mark. */
  readonly held: PlacedMark | undefined;
  readonly gaps: string | undefined;
}

/** Integers before the last row that are read again when the mark moves back. */
const LOOK_BACK = 10_000n;
/**
 * Reads what is new after the mark, adds it, and moves the mark. Every row up to a mark is in the filter: the
 * mark moves to a row that was settled before a reading began (`Candidates`), with others after it, when all
 * ids of that reading have been added. By then all rows before it were visible, unless those others are all
 * far ahead.
 */
export class TopUp {
  private readonly candidates: Candidates;
  /** As this process has left it. */
  private markText: string | undefined;

  constructor(private readonly context: TopUpContext) {
    this.candidates = new Candidates(context.settings.overlapMs);
  }

  /** To be called when another process may have followed. */
  forget(): void {
    this.candidates.forget();
    this.context.reader.forget();
  }

  /** One reading, by the process that follows. Throws what the source throws, and what stops the adds. */
  async turn(
    { mark: stored, gaps }: Pick<MarkEntries, 'mark' | 'gaps'>,
    signal: AbortSignal,
  ): Promise<Reading | undefined> {
    const { source, reader, clock } = this.context;
    if (stored !== this.markText) this.forget();
    this.markText = stored;
    const mark = stored === undefined ? undefined : markOf(stored);
    if (stored !== undefined && (mark === undefined || !this.isUsable(mark))) {
      await this.reset(stored, markNotRead(stored));
      return undefined;
    }
    // A rebuild reads all rows anyway, and faster. With a single row it sets no mark.
    if (mark === undefined && (await source.newest?.(1)) !== undefined) {
      this.context.askForRebuild();
      return undefined;
    }
    const { settled, aged } = this.candidates.look(clock.now(), await source.openTransactions?.());
    // Only a reading after which the mark moves has to begin at the old one.
    const held = settled ? undefined : (aged ?? (mark === undefined ? this.candidates.newest : undefined));
    try {
      const addsAll = settled !== undefined || mark === undefined;
      const reading = await reader.read(source, held?.mark ?? mark, { signal, addsAll });
      if (reading.last === undefined && mark !== undefined && (await this.wentBack(mark, signal)))
        return undefined;
      if (settled && !this.candidates.isSame(await source.openTransactions?.())) this.forget();
      else await this.advance(reading, { settled, held, gaps });
      return reading;
    } catch (error) {
      if (error instanceof OtherOrderError && stored !== undefined) await this.reset(stored, error.message);
      throw error;
    }
  }

  private async advance({ last, place }: Reading, { settled, held, gaps: stored }: Advance): Promise<void> {
    const { clock, record } = this.context;
    const newest = last ?? settled?.mark;
    const before = this.markText === undefined ? undefined : markOf(this.markText);
    const passed = gapsAfter(settled?.gaps ?? [], before);
    const entries: MarkEntries = {
      ...(newest !== undefined && { newest: textOfMark(newest) }),
      ...(settled && { mark: textOfMark(settled.mark) }),
      ...(passed.length > 0 && { gaps: withGaps(stored, passed) }),
    };
    if (settled) this.candidates.dropUpTo(settled);
    const skipped = held?.gaps ?? [];
    if (place)
      this.candidates.keep({ ...place, gaps: largestGaps([...skipped, ...place.gaps]) }, clock.now());
    if (!(await record(this.markText ?? '', entries))) {
      this.forget();
      return;
    }
    if (settled) this.markText = entries.mark;
  }

  /** A source with nothing after the mark may have lost its last rows, or gives their ids out again. */
  private async wentBack(mark: BloomMark, signal: AbortSignal): Promise<boolean> {
    const { source, reader, record, emit, name, askForRebuild } = this.context;
    if (!source.newest) return false;
    const newest = await source.newest();
    if (newest !== undefined && sameMark(newest, mark)) return false;
    // A row may have come between the two questions.
    if ((await reader.read(source, mark, { signal, addsAll: false })).last !== undefined) return false;
    const reason = markWentBack(valueOf(mark), newest === undefined ? undefined : valueOf(newest));
    const lower = newest === undefined ? undefined : await this.lowerMark(newest, signal);
    if (newest === undefined || lower === undefined) {
      await this.reset(this.markText!, reason);
      if (newest !== undefined) askForRebuild();
      return true;
    }
    const text = textOfMark(lower);
    if (await record(this.markText!, { mark: text, newest: textOfMark(newest) })) {
      this.forget();
      this.markText = text;
      emit({ type: 'mark-moved-back', filter: name, mark: valueOf(mark), to: valueOf(lower), reason });
    }
    return true;
  }

  /**
   * Where the mark moves back to when `newest` is the last row; undefined when ids are given out again. Among
   * integers it is far before that row, since rows before it may be new, or not visible yet.
   */
  private async lowerMark(newest: BloomMark, signal: AbortSignal): Promise<BloomMark | undefined> {
    const { source, reader, settings, isKnown } = this.context;
    const before = farBefore(newest, settings);
    if (before !== undefined) {
      const { added } = await reader.read(source, before, { signal, addsAll: true });
      return settings.ordered && added > 0 ? undefined : before;
    }
    const isKept = !settings.ordered || newest instanceof Date || (await isKnown(newest));
    return isKept ? newest : undefined;
  }

  private async reset(stored: string, reason: string): Promise<void> {
    const { record, emit, name } = this.context;
    // Something is left: a store that has lost the mark has nothing.
    if (!(await record(stored, { mark: '', newest: stored }))) return;
    this.forget();
    this.markText = undefined;
    emit({ type: 'mark-moved-back', filter: name, mark: stored, to: undefined, reason });
  }

  private isUsable(mark: BloomMark): boolean {
    const { settings } = this.context;
    if (!settings.ordered) return true;
    return orderOf(mark, settings) !== undefined;
  }
}

/** Undefined for marks without a distance. */
function farBefore(newest: BloomMark, settings: TopUpSettings): BloomMark | undefined {
  if (typeof newest === 'number') return newest - Number(LOOK_BACK);
  if (typeof newest === 'bigint') return newest - LOOK_BACK;
  const isOfIntegers = settings.ordered && orderOf(newest, settings) === 'integer';
  return isOfIntegers ? String(BigInt(String(newest)) - LOOK_BACK) : undefined;
}

function sameMark(one: BloomMark, other: BloomMark): boolean {
  return valueOf(one) === valueOf(other);
}

function valueOf(mark: BloomMark): string {
  return mark instanceof Date ? mark.toISOString() : String(mark);
}
