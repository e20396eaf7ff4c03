import type { BloomEventListener, Clock } from '../../common/index.js';
import type { BloomIdSource, BloomOpenTransactions } from '../../rebuild/index.js';
import type { IdKeys } from '../id-keys.js';
import { keyOfMark } from './coverage.js';
import { compareKeys, isOfOrder } from './id-order.js';

interface NewestQuestionContext {
  readonly name: string;
  readonly source: BloomIdSource;
  readonly keys: IdKeys;
  readonly clock: Clock;
  readonly emit: BloomEventListener;
}

interface Waiting {
  readonly key: string;
  readonly since: number;
  /** The first look that began when this lookup was there. */
  first?: BloomOpenTransactions;
  readonly answer: (isOfNoRow: boolean) => void;
}

/** From one question to the next, in milliseconds: the database hears few, however many lookups wait. */
const EVERY_MS = 25;
/** A lookup waits no longer for transactions that are open, or for the database. In milliseconds. */
const LONGEST_MS = 250;
/** More lookups than these do not wait. */
const MOST_WAITING = 10_000;
/** In milliseconds. */
const PAUSE_AFTER_ERROR_MS = 1000;

/**
 * Asks the database for its newest row, on behalf of all lookups that wait. An integer after it is of no row,
 * when all transactions have ended that were open after the lookup began: each row that was written by then
 * is visible or gone. Whatever the database says is used once, for lookups from before it was asked.
 */
class NewestQuestion {
  private waiting: Waiting[] = [];
  private isAsking = false;
  private isSweeping = false;
  private notBefore = -Infinity;

  constructor(private readonly context: NewestQuestionContext) {}

  /** False where it is not known in time. Never rejects. */
  isOfNoRow(key: string): Promise<boolean> {
    const now = this.context.clock.now();
    if (this.waiting.length >= MOST_WAITING || this.notBefore > now + EVERY_MS) return Promise.resolve(false);
    return new Promise((answer) => {
      this.waiting.push({ key, since: now, answer });
      this.sweepLater();
      if (!this.isAsking) void this.askWhileAnyWaits();
    });
  }

  private async askWhileAnyWaits(): Promise<void> {
    const { name, clock, emit } = this.context;
    this.isAsking = true;
    try {
      while (this.waiting.length > 0) {
        const waitMs = this.notBefore - clock.now();
        if (waitMs > 0) await clock.sleep(waitMs);
        this.notBefore = clock.now() + EVERY_MS;
        await this.ask();
      }
    } catch (error) {
      this.notBefore = clock.now() + PAUSE_AFTER_ERROR_MS;
      emit({ type: 'top-up-failed', filter: name, error });
      this.settle(() => false);
    } finally {
      this.isAsking = false;
    }
  }

  private async ask(): Promise<void> {
    const { source, keys } = this.context;
    const asking = new Set(this.waiting);
    const open = await source.openTransactions!();
    for (const one of asking) one.first ??= open;
    const newest = await source.newest!();
    const last = newest === undefined ? undefined : keyOfMark(keys, newest);
    const isKnown = open !== undefined && last !== undefined && isOfOrder('integer', last);
    this.settle((one) => {
      if (!asking.has(one)) return undefined;
      if (!isKnown || !one.first || compareKeys('integer', one.key, last) <= 0) return false;
      return open.oldest >= one.first.next ? true : undefined;
    });
  }

  private sweepLater(): void {
    if (this.isSweeping) return;
    this.isSweeping = true;
    setTimeout(() => {
      this.isSweeping = false;
      const before = this.context.clock.now() - LONGEST_MS;
      this.settle(({ since }) => (since <= before ? false : undefined));
      if (this.waiting.length > 0) this.sweepLater();
    }, LONGEST_MS).unref();
  }

  /** Answers those for which there is an answer. */
  private settle(answerOf: (one: Waiting) => boolean | undefined): void {
    this.waiting = this.waiting.filter((one) => {
      const isOfNoRow = answerOf(one);
      if (isOfNoRow !== undefined) one.answer(isOfNoRow);
      return isOfNoRow === undefined;
    });
  }
}

/** Says whether an integer is of no row. Undefined where the source does not tell open transactions. */
export function askedOfDatabase(
  context: NewestQuestionContext,
): ((key: string) => Promise<boolean>) | undefined {
  if (!context.source.newest || !context.source.openTransactions) return undefined;
  const question = new NewestQuestion(context);
  return (key) => question.isOfNoRow(key);
}
