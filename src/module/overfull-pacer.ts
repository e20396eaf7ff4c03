/** Between the build of a filter and the next one for being overfull, at first. */
const FIRST_PAUSE_MS = 10 * 60_000;
const LAST_PAUSE_MS = 24 * 60 * 60_000;

/** When a filter may be rebuilt for holding more ids than planned, so that nobody can buy scans of the table with creates that fail. */
export class OverfullPacer {
  private pauseMs = FIRST_PAUSE_MS;
  /** When the generation was built that was overfull last, by `Date.now()`. */
  private builtAt: number | undefined;
  /** Its multiple of the capacity when the source was asked last, rounded down to a power of two. */
  private askedLevel = 0;

  /** Between two rebuilds for this reason, in milliseconds, for now. */
  get betweenMs(): number {
    return this.pauseMs;
  }

  /**
   * To be called with each generation that is found overfull; whether a rebuild is due, by the time since its build. A build that lies in
   * the future says that clocks differ, and holds nothing up: the store has a clock that all share.
   */
  isDue(builtAt: number, now = Date.now()): boolean {
    if (builtAt !== this.builtAt) {
      // One that is overfull soon after the last one was: what fills it goes on.
      if (this.builtAt !== undefined) {
        const isSoon = builtAt - this.builtAt <= 2 * this.pauseMs;
        this.pauseMs = isSoon ? Math.min(2 * this.pauseMs, LAST_PAUSE_MS) : FIRST_PAUSE_MS;
      }
      this.builtAt = builtAt;
      this.askedLevel = 0;
    }
    return builtAt > now || now - builtAt >= this.pauseMs;
  }

  /**
   * Whether to ask the source how many ids it has: for each generation once, and again at each power of two of the capacity. The event
   * `overfull` comes at these powers. To ask at twice the number of the last question could miss one: that number may lie just beyond the next power.
   */
  mayAskSource(timesCapacity: number): boolean {
    const level = 2 ** Math.floor(Math.log2(timesCapacity));
    if (level <= this.askedLevel) return false;
    this.askedLevel = level;
    return true;
  }
}
