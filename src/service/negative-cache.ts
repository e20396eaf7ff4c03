import { jittered } from '../common/index.js';
import { ownText } from '../filter/index.js';
import type { SharedNegativeCacheOptions } from '../store/index.js';

/** How ids are remembered that the filter let through and the database denied. */
export interface NegativeCacheOptions {
  /**
   * Longest time that a false positive is remembered, in milliseconds; each a little differently. Default
   * 5,000.
   */
  readonly lifeMs?: number;
  /**
   * Most ids that are remembered; the oldest goes first. Default 10,000; 40,000 when shared (1 MiB of Redis).
   */
  readonly maxIds?: number;
  /**
   * Keeps the negative cache in Redis, for all processes. A lookup that the filter lets through then asks
   * Redis a second time, under the same `timeoutMs`. An `add` in any process removes the denials of its id
   * before it resolves. No denial is noted while a row may still become visible: for twice `drainMs` and one
   * second after the filter went live, or after an id of the same bucket was added (there are `maxIds` / 4
   * buckets). Default false.
   */
  readonly shared?: boolean;
}

const DEFAULT_LIFE_MS = 5_000;
const DEFAULT_IDS = 10_000;
const DEFAULT_SHARED_IDS = 40_000;
/** Methods of one id, and spellings that it was asked for with. */
const MAX_SCOPES = 8;

/** What the store remembers for all processes; undefined when it remembers nothing. */
export function sharedNegativeCacheOptions(
  options: NegativeCacheOptions,
): SharedNegativeCacheOptions | undefined {
  const { lifeMs = DEFAULT_LIFE_MS, maxIds = DEFAULT_SHARED_IDS, shared = false } = options;
  return shared ? { lifeMs, maxIds } : undefined;
}

/** Lookups that the filter let through and the database has just denied, in this process. */
export class NegativeCache {
  /** When each denial ends, by id and by what was asked of it. */
  private readonly denied = new Map<string, Map<string, number>>();
  private readonly lifeMs: number;
  private readonly maxIds: number;

  constructor(
    { lifeMs = DEFAULT_LIFE_MS, maxIds = DEFAULT_IDS }: NegativeCacheOptions,
    private readonly adds: RecentAdds,
  ) {
    this.lifeMs = lifeMs;
    this.maxIds = maxIds;
  }

  get size(): number {
    return this.denied.size;
  }

  /** @param scope what is asked about the id: a denial of one question is not one of another. */
  has(text: string, scope: string): boolean {
    const scopes = this.denied.get(text);
    const ends = scopes?.get(scope);
    if (ends === undefined) return false;
    if (ends > performance.now()) return true;
    scopes!.delete(scope);
    if (scopes!.size === 0) this.denied.delete(text);
    return false;
  }

  /** Does nothing when the row may have been on its way when the database was asked (`readAt`). */
  remember(text: string, scope: string, readAt: number): void {
    if (this.adds.mayMiss(text, readAt)) return;
    const ends = performance.now() + jittered(this.lifeMs);
    const scopes = this.denied.get(text) ?? new Map<string, number>();
    this.denied.delete(text);
    if (this.denied.size >= this.maxIds) this.denied.delete(this.denied.keys().next().value!);
    if (scopes.size >= MAX_SCOPES && !scopes.has(scope)) scopes.delete(scopes.keys().next().value!);
    this.denied.set(ownText(text), scopes.set(scope, ends));
  }

  forget(texts: readonly string[]): void {
    for (const text of texts) this.denied.delete(text);
  }

  clear(): void {
    this.denied.clear();
  }
}

/** About 15 MiB. When more ids are added, all are dropped and no read is trusted for a while. */
const MAX_ADDED = 100_000;
/** A read of the database that takes longer proves nothing any more. */
const MAX_READ_MS = 10_000;
/** Ids of one slice of time are forgotten together. */
const SLICES = 8;

/** Ids added within a span of time, and when the row of each is visible at the latest. */
interface Slice {
  readonly visibleAt: Map<string, number>;
  /** No id is put in from then on. */
  readonly closesAt: number;
  /** No id of it matters from then on. */
  readonly endsAt: number;
}

/**
 * Ids that this process added lately. Until their rows are visible, for `drainMs` at most, a read of the
 * database may miss them. They are forgotten by slices: one map would be searched from its first deleted
 * entry each time.
 */
export class RecentAdds {
  /** The oldest first. */
  private readonly slices: Slice[] = [];
  private kept = 0;
  private missingUntil: number;

  /** @param knownSince ids may have been added unseen before. */
  constructor(
    private readonly drainMs: number,
    knownSince = -Infinity,
  ) {
    this.missingUntil = knownSince + drainMs;
  }

  get size(): number {
    return this.kept;
  }

  /** To be called before ids are recorded, and again when they are: `drainMs` counts from then. */
  record(texts: readonly string[]): void {
    const now = performance.now();
    const { visibleAt } = this.sliceOf(now);
    const before = visibleAt.size;
    for (const text of texts) visibleAt.set(ownText(text), now + this.drainMs);
    this.kept += visibleAt.size - before;
    if (this.kept <= MAX_ADDED) return;
    this.slices.length = this.kept = 0;
    this.missingUntil = now + this.drainMs;
  }

  /** To be called when a rebuild brought ids that this process did not add. */
  recordOthers(): void {
    this.missingUntil = Math.max(this.missingUntil, performance.now());
  }

  /** Whether a read of the database that began at `readAt` may have missed the row of the id. */
  mayMiss(text: string, readAt: number): boolean {
    const now = performance.now();
    if (readAt <= this.missingUntil || now - readAt > MAX_READ_MS) return true;
    this.prune(now);
    // The newest slice first: it has the last record of an id.
    for (let i = this.slices.length - 1; i >= 0; i--) {
      const visibleAt = this.slices[i]!.visibleAt.get(text);
      if (visibleAt !== undefined) return readAt <= visibleAt;
    }
    return false;
  }

  private sliceOf(now: number): Slice {
    this.prune(now);
    const newest = this.slices.at(-1);
    if (newest && now < newest.closesAt) return newest;
    const keptMs = this.drainMs + MAX_READ_MS;
    const closesAt = now + keptMs / SLICES;
    const slice = { visibleAt: new Map<string, number>(), closesAt, endsAt: closesAt + keptMs };
    this.slices.push(slice);
    return slice;
  }

  private prune(now: number): void {
    while (this.slices.length > 0 && this.slices[0]!.endsAt <= now) {
      this.kept -= this.slices.shift()!.visibleAt.size;
    }
  }
}
