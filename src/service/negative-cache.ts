import { jittered } from '../common/index.js';
import { ownText } from '../filter/index.js';
import type { SharedNegativeCacheOptions } from '../store/index.js';
import type { RecentAdds } from './recent-adds.js';

/** How ids are remembered that the filter let through and the database denied. */
export interface NegativeCacheOptions {
  /** How long a false positive is remembered at most, in milliseconds; each a little differently. Default 5,000. */
  readonly lifeMs?: number;
  /** Ids remembered at most; the oldest goes first. Default 10,000; 40,000 when shared, which takes 1 MiB of Redis. */
  readonly maxIds?: number;
  /**
   * Keeps the negative cache in Redis, for all processes. A lookup that the filter lets through then asks Redis a second time, under the
   * same `timeoutMs`. An `add` in any process removes the denials of its id before it resolves. No denial is noted while a row may still
   * become visible: for twice `drainMs` and one second after the filter went live, or after an id of the same bucket was added (there are
   * `maxIds` / 4 buckets). Default false.
   */
  readonly shared?: boolean;
}

const DEFAULT_LIFE_MS = 5_000;
const DEFAULT_IDS = 10_000;
const DEFAULT_SHARED_IDS = 40_000;
/** Of one id, in memory: methods, and spellings that it was asked for with. */
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

  /** Does nothing when the row may have been on its way when the database was asked, at `readAt` by `performance.now()`. */
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
