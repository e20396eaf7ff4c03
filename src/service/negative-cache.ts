export interface NegativeCacheOptions {
  /** How long a false positive is remembered at most, in milliseconds; each a little differently. Default 5,000. */
  readonly lifeMs?: number;
  /** Ids remembered at most; the oldest goes first. Default 10,000. */
  readonly maxIds?: number;
}

/** Lives differ by this share up and down, so that what came together does not expire together. */
const JITTER = 0.2;

/**
 * False positives that the database has just denied, in this process: replaying one reaches the database once in its life. An
 * `add` of this process forgets the id before it resolves, and one that runs during a look-up keeps its result out.
 */
export class NegativeCache {
  private readonly expiries = new Map<string, number>();
  private readonly lifeMs: number;
  private readonly maxIds: number;
  private adds = 0;

  constructor(options: NegativeCacheOptions) {
    this.lifeMs = options.lifeMs ?? 5_000;
    this.maxIds = options.maxIds ?? 10_000;
  }

  get size(): number {
    return this.expiries.size;
  }

  has(key: string): boolean {
    const expiresAt = this.expiries.get(key);
    if (expiresAt === undefined) return false;
    if (expiresAt > performance.now()) return true;
    this.expiries.delete(key);
    return false;
  }

  /** To be called before the look-up whose result may be remembered, and handed to `remember`. */
  ticket(): number {
    return this.adds;
  }

  remember(key: string, ticket: number): void {
    if (ticket !== this.adds) return;
    this.expiries.delete(key);
    if (this.expiries.size >= this.maxIds) this.expiries.delete(this.expiries.keys().next().value!);
    this.expiries.set(key, performance.now() + this.lifeMs * (1 - JITTER + 2 * JITTER * Math.random()));
  }

  /** To be called before and after ids are recorded. */
  forget(keys: readonly string[]): void {
    this.adds++;
    for (const key of keys) this.expiries.delete(key);
  }
}
