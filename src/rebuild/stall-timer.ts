import { SourceError } from './failure.js';
import { sourceStalled } from './rebuild.messages.js';

/** How often a source is looked at in the time that it may take. */
const LOOKS = 4;

/** Waits for a source, until the run is stopped or the source has returned nothing for too long. */
export class StallTimer {
  /** Aborts with the reason why the source is no longer waited for. */
  readonly signal: AbortSignal;

  private readonly stalled = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private interrupt: ((reason: unknown) => void) | undefined;
  /** Looks that have met the same wait. */
  private looks = 0;
  private readonly stop = () => this.interrupt?.(this.signal.reason);

  constructor(run: AbortSignal, stallMs: number) {
    this.signal = AbortSignal.any([run, this.stalled.signal]);
    this.signal.addEventListener('abort', this.stop);
    this.timer = setInterval(() => this.look(stallMs), stallMs / LOOKS);
    this.timer.unref();
  }

  /** @throws {SourceError} for what the source rejects with, and when it returns nothing for too long. */
  wait<Value>(given: Promise<Value>): Promise<Value> {
    this.looks = 0;
    return new Promise((resolve, reject) => {
      this.interrupt = reject;
      given.then(
        (value) => {
          this.interrupt = undefined;
          resolve(value);
        },
        (error: unknown) => reject(new SourceError(error)),
      );
      if (this.signal.aborted) this.stop();
    });
  }

  close(): void {
    clearInterval(this.timer);
    this.signal.removeEventListener('abort', this.stop);
  }

  private look(stallMs: number): void {
    if (!this.interrupt || this.looks++ < LOOKS) return;
    this.stalled.abort(new SourceError(new Error(sourceStalled(stallMs))));
  }
}
