import type { Clock } from '../../common/index.js';
import type { BloomId } from '../../filter/index.js';
import { type BloomIdsContext, type BloomIdSource, type BloomMark, textOfMark } from '../../rebuild/index.js';
import type { OutsideLedger } from '../../store/index.js';

type Ids = BloomId | readonly BloomId[];

export interface BuildMarkContext {
  readonly source: BloomIdSource;
  readonly ledger: OutsideLedger;
  readonly overlapMs: number;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/**
 * The mark that a rebuild sets: the newest row, of `overlapMs` before the rebuild reads the source. By then all rows before it are visible,
 * and read.
 */
export class BuildMark {
  /** What the rebuild reads in place of the source. */
  readonly source: BloomIdSource;
  private noting: Promise<void> | undefined;
  private newest: { readonly mark: BloomMark; readonly at: number } | undefined;
  private before = '';
  private isTooEarly = false;

  constructor(private readonly context: BuildMarkContext) {
    const { source } = context;
    this.source = {
      ids: (idsContext) => ({ [Symbol.asyncIterator]: () => this.begin(idsContext) }),
      count: async () => {
        await this.noteOnce();
        return source.count?.();
      },
    };
  }

  /** To be called when the rebuild went live, having read all rows. */
  async published(): Promise<void> {
    const { ledger, onError } = this.context;
    const { newest, before, isTooEarly } = this;
    if (!newest || isTooEarly) return;
    const mark = textOfMark(newest.mark);
    try {
      await ledger.note({ holder: undefined, expectedMark: before, entries: { mark, newest: mark } });
    } catch (error) {
      onError(error);
    }
  }

  /** Without a mark the rebuild waits until the newest row is old enough, and else only if it has waited for other reasons. */
  private begin(context: BloomIdsContext): AsyncIterator<Ids> {
    const { source } = this.context;
    let inner: AsyncIterator<Ids> | undefined;
    const open = async () => {
      await this.noteOnce();
      const { clock, overlapMs } = this.context;
      const waitMs = this.newest ? this.newest.at + overlapMs - clock.now() : 0;
      if (waitMs > 0 && this.before === '') await clock.sleep(Math.ceil(waitMs), context.signal);
      else if (waitMs > 0) this.isTooEarly = true;
      inner = source.ids(context)[Symbol.asyncIterator]();
      return inner;
    };
    return {
      next: () => (inner ? inner.next() : open().then((opened) => opened.next())),
      return: async (value?: unknown) => (await inner?.return?.(value)) ?? { done: true, value: undefined },
    };
  }

  private noteOnce(): Promise<void> {
    return (this.noting ??= this.note());
  }

  private async note(): Promise<void> {
    const { source, ledger, clock, onError } = this.context;
    if (!source.newest) return;
    try {
      const { entries } = await ledger.ask({ holder: '-', lifeMs: 0 });
      const mark = await source.newest();
      this.before = entries.mark ?? '';
      if (mark !== undefined) this.newest = { mark, at: clock.now() };
    } catch (error) {
      onError(error);
    }
  }
}
