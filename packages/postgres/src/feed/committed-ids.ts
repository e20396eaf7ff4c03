import type { BloomFeedContext, BloomId } from 'nestjs-bloom';
import { textOfLsn } from './lsn.js';

/** Ids of one add. */
const PIECE = 500;
/** Ids that wait to be added; more of them hold up the reading of the log. */
const MOST_WAITING = 5000;

/**
 * Adds ids of committed rows in their order, many of them at once, and says up to where all have been added.
 */
export class CommittedIds {
  private waiting: BloomId[] = [];
  /** Up to there the log was read; the transactions before it are in `waiting`, or have been added. */
  private read: bigint;
  private added: bigint;
  private working: Promise<void> | undefined;

  /**
   * @param onAdded called when all before a place have been added and noted: the database may forget what
   * lies before.
   */
  constructor(
    private readonly context: Pick<BloomFeedContext, 'add' | 'save'>,
    from: bigint,
    private readonly onAdded: (lsn: bigint) => void,
    private readonly onError: (error: unknown) => void,
  ) {
    this.read = from;
    // Where it begins is noted as well: without a position it would not be known later whether the slot is
    // the same.
    this.added = from - 1n;
  }

  /** Up to there all ids have been added. */
  get position(): bigint {
    return this.added;
  }

  /** Takes an id of a transaction that has been committed. Resolves when more may come. */
  async take(id: BloomId): Promise<void> {
    this.waiting.push(id);
    if (this.waiting.length < MOST_WAITING) return;
    this.start();
    await this.working;
  }

  /** All ids before this place have been taken. */
  reach(lsn: bigint): void {
    if (lsn <= this.read) return;
    this.read = lsn;
    this.start();
  }

  /** Notes how far this has come, where that was not possible before. */
  retry(): void {
    if (this.added < this.read) this.start();
  }

  private start(): void {
    this.working ??= this.work()
      .catch((error: unknown) => this.onError(error))
      .finally(() => {
        this.working = undefined;
      });
  }

  private async work(): Promise<void> {
    while (this.waiting.length > 0 || this.added < this.read) {
      const { read } = this;
      const ids = this.waiting;
      this.waiting = [];
      for (let at = 0; at < ids.length; at += PIECE) await this.context.add(ids.slice(at, at + PIECE));
      if (read <= this.added) continue;
      // Noted first: a slot that is further than what is noted was moved by somebody else.
      if (!(await this.context.save(textOfLsn(read)))) return;
      this.added = read;
      this.onAdded(read);
    }
  }
}
