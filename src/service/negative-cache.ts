export interface NegativeCacheOptions {
  /** How long a false positive is remembered at most, in milliseconds; each a little differently. Default 5,000. */
  readonly lifeMs?: number;
  /** Ids remembered at most; the oldest goes first. Default 10,000. */
  readonly maxIds?: number;
}

/** Lives differ by this share up and down, so that what came together does not expire together. */
const JITTER = 0.2;
/** Past so many ids added in one `drainMs` nothing is remembered for a while, rather than all of them being kept. */
const MAX_ADDED = 100_000;

/**
 * False positives that the database has just denied, in this process. An id that this process added is never among them: the
 * database denies it too, until its row is visible.
 */
export class NegativeCache {
  private readonly denied = new Map<string, number>();
  /** Ids added lately, and when their rows are visible at the latest; in that order. */
  private readonly added = new Map<string, number>();
  private suspendedUntil = -Infinity;
  private readonly lifeMs: number;
  private readonly maxIds: number;

  constructor(
    options: NegativeCacheOptions,
    /** Longest time from an add to its visible row. */
    private readonly drainMs: number,
  ) {
    this.lifeMs = options.lifeMs ?? 5_000;
    this.maxIds = options.maxIds ?? 10_000;
  }

  get size(): number {
    return this.denied.size;
  }

  has(key: string): boolean {
    const expiresAt = this.denied.get(key);
    if (expiresAt === undefined) return false;
    if (expiresAt > performance.now()) return true;
    this.denied.delete(key);
    return false;
  }

  remember(key: string): void {
    const now = performance.now();
    this.prune(now);
    if (this.added.has(key) || now < this.suspendedUntil) return;
    this.denied.delete(key);
    if (this.denied.size >= this.maxIds) this.denied.delete(this.denied.keys().next().value!);
    this.denied.set(key, now + this.lifeMs * (1 - JITTER + 2 * JITTER * Math.random()));
  }

  /** To be called before ids are recorded, and again when they are: `drainMs` counts from then. */
  noteAdded(keys: readonly string[]): void {
    const now = performance.now();
    this.prune(now);
    for (const key of keys) {
      this.denied.delete(key);
      this.added.delete(key);
      this.added.set(key, now + this.drainMs);
    }
    if (this.added.size <= MAX_ADDED) return;
    this.added.clear();
    this.denied.clear();
    this.suspendedUntil = now + this.drainMs;
  }

  private prune(now: number): void {
    for (const [key, visibleAt] of this.added) {
      if (visibleAt > now) return;
      this.added.delete(key);
    }
  }
}
