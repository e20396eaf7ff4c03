import { Pauses } from './pauses.js';
import { WRITE_TIMEOUT_MS } from './timings.js';

/**
 * Node's timers are early by up to this, and a pause of the process is longer by up to this than it is
 * measured.
 */
const TIMER_SLACK_MS = 5;
/** Lookups prefer ids that were added last: those are the first to get lost. */
const RECENT = 64;

export interface AddTimes {
  readonly sinceCallMs: number;
  /** Since the reply of the server was seen. */
  readonly sinceAddedMs: number;
  /** Lookups of the time between the two. */
  readonly pausedMs: number;
}

/** The oracle: which ids must not be answered "absent" from now on, and which were. */
export class Ledger {
  readonly pauses = new Pauses();
  lookups = 0;
  /** Acknowledged. */
  adds = 0;
  rejectedAdds = 0;
  /** What reached a caller of a guarded lookup, and errors of an add of a kind that is not announced. */
  readonly callerErrors: unknown[] = [];

  private readonly owed: string[] = [];
  private readonly wrong: string[] = [];
  /** Their rows became visible later than `drainMs` allows: the promise does not hold for them. */
  private readonly late = new Set<string>();
  /** Their rows were never written. */
  private readonly withdrawn = new Set<string>();

  /**
   * @param drainMs of the filter.
   * @param waitMs for how long an add waits at most, after the server has carried it out.
   */
  constructor(
    built: readonly string[],
    private readonly drainMs: number,
    private readonly waitMs = 0,
  ) {
    this.owed.push(...built);
  }

  get wrongAbsent(): number {
    return this.trulyWrong().length;
  }

  get firstWrong(): readonly string[] {
    return [...new Set(this.trulyWrong())].slice(0, 5);
  }

  get lateAdds(): number {
    return this.late.size;
  }

  /** All ids that are in the table and in a build, or whose add was acknowledged. */
  get ids(): readonly string[] {
    return this.owed;
  }

  acknowledged(id: string): void {
    this.adds++;
    this.owed.push(id);
  }

  acknowledgedByPeer(id: string): void {
    this.owed.push(id);
  }

  /**
   * Takes the times from the call of the add to the visible row, and for how long the process was paused
   * between the call and its reply.
   */
  visible(id: string, { sinceCallMs, sinceAddedMs, pausedMs }: AddTimes): void {
    // The server carried the add out after the call, and within the deadline before the reply was there; a
    // pause hides a reply for longer.
    const atMostMs = Math.min(sinceCallMs, sinceAddedMs + WRITE_TIMEOUT_MS + this.waitMs + pausedMs);
    if (atMostMs > this.drainMs - 2 * TIMER_SLACK_MS) this.late.add(id);
  }

  close(): void {
    this.pauses.close();
  }

  /** The add was acknowledged, and then the row could not be written. */
  withdraw(id: string): void {
    this.withdrawn.add(id);
  }

  wasAbsent(id: string): void {
    this.wrong.push(id);
  }

  pick(): string {
    const { owed } = this;
    const from = Math.random() < 0.5 ? Math.max(0, owed.length - RECENT) : 0;
    return owed[from + Math.floor(Math.random() * (owed.length - from))]!;
  }

  private trulyWrong(): string[] {
    return this.wrong.filter((id) => !this.late.has(id) && !this.withdrawn.has(id));
  }
}
