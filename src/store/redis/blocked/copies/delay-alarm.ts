/** So many times within the window are no accident: a process that died delays adds once. */
const TIMES = 3;
const WINDOW_MS = 60_000;

/** Notices that adds wait long for readers again and again. */
export class DelayAlarm {
  private delays: { readonly at: number; readonly ms: number }[] = [];
  private reportedAt = -Infinity;

  /**
   * Takes a long wait that has ended. Those that ran at the same time are one.
   *
   * @returns what to report, at most once in the window.
   */
  delayed(ms: number, now = performance.now()): { times: number; ms: number } | undefined {
    this.delays = this.delays.filter(({ at }) => now - at < WINDOW_MS);
    if (this.delays.some(({ at }) => now - ms < at)) return undefined;
    this.delays.push({ at: now, ms });
    if (this.delays.length < TIMES || now - this.reportedAt < WINDOW_MS) return undefined;
    this.reportedAt = now;
    return { times: this.delays.length, ms: this.delays.reduce((sum, delay) => sum + delay.ms, 0) };
  }
}
