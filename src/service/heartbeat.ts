import { type BloomEventListener, within } from '../common/index.js';
import { BoardRefusedError } from '../store/index.js';

/** Longest time that an application waits at its start for the answer to the first beat. */
const FIRST_WITHIN_MS = 1000;
/** A refused user is tried again after this time: an operator may have permitted it. */
const REFUSED_PAUSE_MS = 60_000;

export interface HeartbeatContext {
  readonly filter: string;
  readonly emit: BloomEventListener;
  readonly everyMs: number;
  /** Resolves to false when nothing was sent. */
  readonly beat: () => Promise<boolean>;
}

/** Beats again and again, one beat at a time. What fails is one event, until it works again. */
export class Heartbeat {
  private timer: NodeJS.Timeout | undefined;
  private isBeating = false;
  private hasFailed = false;
  private isRefused = false;
  private pausedUntil = -Infinity;

  constructor(private readonly context: HeartbeatContext) {}

  get isRunning(): boolean {
    return this.timer !== undefined;
  }

  /** Resolves after the first beat, or when that takes too long. Never rejects. */
  async start(): Promise<void> {
    this.stop();
    const { everyMs } = this.context;
    // Processes that start together do not beat together.
    this.timer = setTimeout(() => {
      void this.beat();
      this.timer = setInterval(() => void this.beat(), everyMs).unref();
    }, everyMs * Math.random()).unref();
    await within(FIRST_WITHIN_MS, this.beat());
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  /** Resolves at once while another beat is under way. Never rejects. */
  async beat(): Promise<void> {
    if (this.isBeating || performance.now() < this.pausedUntil) return;
    this.isBeating = true;
    try {
      if (!(await this.context.beat())) return;
      this.hasFailed = false;
      this.isRefused = false;
    } catch (error) {
      this.report(error);
    } finally {
      this.isBeating = false;
    }
  }

  private report(error: unknown): void {
    const { emit, filter } = this.context;
    if (error instanceof BoardRefusedError) {
      this.pausedUntil = performance.now() + REFUSED_PAUSE_MS;
      if (!this.isRefused) emit({ type: 'advice', filter, text: error.message });
      this.isRefused = true;
      return;
    }
    if (!this.hasFailed) emit({ type: 'store-error', filter, operation: 'heartbeat', error });
    this.hasFailed = true;
  }
}
