/** By how much the clocks of instances may differ: so much later another one's fire counts as the same. In milliseconds. */
const MAX_SKEW_MS = 60_000;

/** When a cron expression fired in this process, and so how long a build that another process began then is enough for this fire. */
export class CronFires {
  private firedAt = -Infinity;

  constructor(private readonly now: () => number = Date.now) {}

  /**
   * Notes a fire. Returns a time that is shorter than the pauses before and after it, in milliseconds.
   *
   * @param nextAt when it fires next
   */
  withinMs(nextAt: number): number {
    const now = this.now();
    const before = now - this.firedAt;
    this.firedAt = now;
    return Math.min(MAX_SKEW_MS, Math.max(0, nextAt - now) / 2, before / 2);
  }
}
