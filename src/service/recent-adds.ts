/** Past so many ids added at a time no read is trusted for a while, rather than all of them being kept. */
const MAX_ADDED = 100_000;
/** A read of the database that takes longer proves nothing any more. */
const MAX_READ_MS = 10_000;

/**
 * Ids that this process added lately. Until their rows are visible, for `drainMs` at most, a read of the database may miss them.
 */
export class RecentAdds {
  /** When the row of an id is visible at the latest, by `performance.now()`; in that order. */
  private readonly visibleAt = new Map<string, number>();
  private missingUntil: number;

  /** @param knownSince before then ids may have been added that it was not told of. */
  constructor(
    private readonly drainMs: number,
    knownSince = -Infinity,
  ) {
    this.missingUntil = knownSince + drainMs;
  }

  /** To be called before ids are recorded, and again when they are: `drainMs` counts from then. */
  note(texts: readonly string[]): void {
    const now = performance.now();
    this.prune(now);
    for (const text of texts) {
      this.visibleAt.delete(text);
      this.visibleAt.set(text, now + this.drainMs);
    }
    if (this.visibleAt.size <= MAX_ADDED) return;
    this.visibleAt.clear();
    this.missingUntil = now + this.drainMs;
  }

  /** Says that ids are there now which nobody added: those of a rebuild. */
  noteOthers(): void {
    this.missingUntil = Math.max(this.missingUntil, performance.now());
  }

  /** Whether a read of the database that began at `readAt` may have missed the row of the id. */
  mayMiss(text: string, readAt: number): boolean {
    if (readAt <= this.missingUntil || performance.now() - readAt > MAX_READ_MS) return true;
    const visibleAt = this.visibleAt.get(text);
    return visibleAt !== undefined && readAt <= visibleAt;
  }

  private prune(now: number): void {
    for (const [text, visibleAt] of this.visibleAt) {
      if (visibleAt + MAX_READ_MS > now) return;
      this.visibleAt.delete(text);
    }
  }
}
