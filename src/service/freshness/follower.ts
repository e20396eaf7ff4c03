import { type BloomEventListener, type Clock, describeError, within } from '../../common/index.js';
import {
  type HighWaterMarks,
  type MarkEntries,
  type MarksAnswer,
  type MarksQuestion,
  MarksRefusedError,
  type MarksUpdate,
} from '../../store/index.js';

export interface FollowerContext {
  readonly name: string;
  readonly holder: string;
  readonly stored: HighWaterMarks;
  readonly everyMs: number;
  readonly clock: Clock;
  readonly emit: BloomEventListener;
  /** Called with each answer, whichever process follows. */
  readonly onAnswer: (answer: MarksAnswer) => void;
  /** Called in each turn of this process; the signal aborts when it no longer follows. */
  readonly onTurn: (answer: MarksAnswer, signal: AbortSignal) => Promise<void>;
  /** Called when this process no longer follows. */
  readonly onEnd: () => Promise<void>;
}

/** Longest time that an application waits at its start for the first answer. */
const FIRST_WITHIN_MS = 1000;
/** How long a process follows unless it asks again: others take over that late from one that died. */
const LEAST_LIFE_MS = 5000;
const TURNS_IN_LIFE = 5;
/** Pauses after turns that failed double up to this. */
const LONGEST_PAUSE_MS = 60_000;

/** A lookup waits no longer for what it asks by itself. */
const HEARD_WITHIN_MS = 250;

/** An error that an event has reported. */
export class ReportedError extends Error {}

/** Asks how far the filter has come, and takes turns while this is the process that follows. */
export class Follower {
  private readonly closing = new AbortController();
  private readonly lifeMs: number;
  private loop: Promise<void> | undefined;
  private following: AbortController | undefined;
  private hasFailed = false;
  private hearing: Promise<void> | undefined;
  /** By the wall clock, which goes on while the process stands still. */
  private heardAt = -Infinity;

  constructor(private readonly context: FollowerContext) {
    this.lifeMs = Math.max(LEAST_LIFE_MS, TURNS_IN_LIFE * context.everyMs);
  }

  get isFollowing(): boolean {
    return this.following !== undefined;
  }

  /** Resolves when that is known, or takes too long. Never rejects. */
  async start(): Promise<void> {
    if (this.loop || this.closing.signal.aborted) return;
    const first = this.ask(0);
    this.loop = this.run(first);
    const ended = new AbortController();
    await Promise.race([
      first.catch(() => {}),
      this.context.clock.sleep(FIRST_WITHIN_MS, ended.signal).catch(() => {}),
    ]);
    ended.abort();
  }

  /**
   * Called by each lookup. Where this process never starts, it asks at most once in a turn, and follows
   * nothing. Without an answer in time nothing is covered. Undefined where nothing is to be waited for.
   */
  hear(): Promise<void> | undefined {
    if (this.loop) return undefined;
    const { clock, everyMs } = this.context;
    if (Math.abs(clock.wall() - this.heardAt) < everyMs) return this.hearing;
    this.heardAt = clock.wall();
    const hearing = this.hearOnce(this.heardAt).finally(() => {
      if (this.hearing === hearing) this.hearing = undefined;
    });
    return (this.hearing = hearing);
  }

  private async hearOnce(askedAt: number): Promise<void> {
    let isHeard = false;
    const asked = this.ask(0).then(
      () => {
        isHeard = true;
        this.hasFailed = false;
      },
      (error: unknown) => this.reportAskFailure(error),
    );
    await within(HEARD_WITHIN_MS, asked);
    // The process may have stood still before it read the answer.
    const { clock, everyMs } = this.context;
    const isLate = Math.abs(clock.wall() - askedAt) >= everyMs;
    if (!isHeard || isLate) this.context.onAnswer({ isHolder: false, entries: {}, ageMs: undefined });
  }

  /** Gives up what this process follows. Never rejects. */
  async stop(): Promise<void> {
    this.closing.abort();
    await this.loop;
  }

  private async run(first: Promise<unknown>): Promise<void> {
    const { everyMs } = this.context;
    await first.catch(() => {});
    let pauseMs = everyMs;
    // Processes that start together do not ask together.
    let waitMs = everyMs * Math.random();
    while (await this.waited(waitMs)) {
      const succeeded = await this.turn();
      pauseMs = succeeded ? everyMs : Math.min(2 * pauseMs, Math.max(everyMs, LONGEST_PAUSE_MS));
      waitMs = pauseMs * (1 + Math.random() / 8);
    }
    await this.giveUp();
  }

  private async waited(ms: number): Promise<boolean> {
    const { clock } = this.context;
    await clock.sleep(ms, this.closing.signal).catch(() => {});
    return !this.closing.signal.aborted;
  }

  /** False when it failed, and the next turn has to wait longer. */
  private async turn(): Promise<boolean> {
    const { onTurn } = this.context;
    let answer: MarksAnswer;
    try {
      answer = await this.ask(this.lifeMs);
      this.hasFailed = false;
    } catch (error) {
      this.reportAskFailure(error);
      return !(error instanceof MarksRefusedError);
    }
    if (!answer.isHolder) {
      await this.end();
      return true;
    }
    this.following ??= new AbortController();
    const { signal } = this.following;
    const stopped = AbortSignal.any([signal, this.closing.signal]);
    const renewal = setInterval(() => void this.renew(), this.lifeMs / 3);
    renewal.unref();
    try {
      await onTurn(answer, stopped);
      return true;
    } catch (error) {
      if (stopped.aborted) return true;
      if (!(error instanceof ReportedError))
        this.context.emit({ type: 'top-up-failed', filter: this.context.name, error });
      // Another process may be able to.
      await this.giveUp();
      return false;
    } finally {
      clearInterval(renewal);
    }
  }

  private async renew(): Promise<void> {
    try {
      if (!(await this.ask(this.lifeMs)).isHolder) await this.end();
    } catch {
      // The turn that comes asks again, and reports the error.
    }
  }

  private async ask(lifeMs: number): Promise<MarksAnswer> {
    const { stored, holder, onAnswer } = this.context;
    const answer = await stored.ask({ holder, lifeMs });
    onAnswer(answer);
    return answer;
  }

  private async giveUp(): Promise<void> {
    await this.end();
    try {
      await this.ask(0);
    } catch {
      // What this process holds expires.
    }
  }

  private async end(): Promise<void> {
    const { following } = this;
    if (!following) return;
    this.following = undefined;
    following.abort();
    await this.context.onEnd();
  }

  private reportAskFailure(error: unknown): void {
    const { emit, name } = this.context;
    if (!this.hasFailed) {
      if (error instanceof MarksRefusedError)
        emit({ type: 'advice', filter: name, text: describeError(error) });
      else emit({ type: 'store-error', filter: name, operation: 'ask how far others have written', error });
    }
    this.hasFailed = true;
  }
}

/** Where no other process has the filter, or the store cannot tell it anything. */
export class LocalMarks implements HighWaterMarks {
  private entries: MarkEntries = {};
  private holder: string | undefined;
  private at: number | undefined;

  async ask({ holder, lifeMs }: MarksQuestion): Promise<MarksAnswer> {
    if (lifeMs > 0) this.holder = holder;
    else if (this.holder === holder) this.holder = undefined;
    const ageMs = this.at === undefined ? undefined : performance.now() - this.at;
    return { isHolder: this.holder === holder && lifeMs > 0, entries: this.entries, ageMs };
  }

  async record({ holder, expectedMark, entries }: MarksUpdate): Promise<boolean> {
    if (holder !== undefined && holder !== this.holder) return false;
    if (expectedMark !== undefined && expectedMark !== (this.entries.mark ?? '')) return false;
    const merged = Object.entries({ ...this.entries, ...entries }).filter(([, text]) => text !== '');
    this.entries = Object.fromEntries(merged) as MarkEntries;
    if (holder !== undefined) this.at = performance.now();
    return true;
  }
}
