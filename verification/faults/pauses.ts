const LOOK_EVERY_MS = 5;

/**
 * Measures for how long this process does not run though it should: on a busy machine, or while the collector
 * of garbage runs.
 */
export class Pauses {
  private readonly timer = setInterval(() => this.look(), LOOK_EVERY_MS);
  private lookedAt = performance.now();
  private pausedMs = 0;

  /**
   * Since the beginning, at least; less than the truth by up to the time between two looks for each pause.
   */
  get totalMs(): number {
    this.look();
    return this.pausedMs;
  }

  close(): void {
    clearInterval(this.timer);
  }

  private look(): void {
    const now = performance.now();
    this.pausedMs += Math.max(0, now - this.lookedAt - LOOK_EVERY_MS);
    this.lookedAt = now;
  }
}
