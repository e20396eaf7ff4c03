import { ownText } from '../filter/index.js';

/** The most notes that are kept, about 15 MiB. When more ids are added, all notes are dropped and no read is trusted for a while. */
const MAX_ADDED = 100_000;
/** A read of the database that takes longer proves nothing any more. */
const MAX_READ_MS = 10_000;
/** Notes of the same part of the time that they are kept are forgotten together. */
const SLICES = 8;

/** Ids that were added within one span of time, and when the row of each is visible at the latest, by `performance.now()`. */
interface Slice {
  readonly visibleAt: Map<string, number>;
  /** When no note may be put in any more. */
  readonly closesAt: number;
  /** When no note of it matters any more. */
  readonly endsAt: number;
}

/**
 * Ids that this process added lately. Until their rows are visible, for `drainMs` at most, a read of the database may miss them.
 *
 * They are forgotten by slices of time. One map of all would be searched from its first entry that is deleted whenever one is
 * forgotten.
 */
export class RecentAdds {
  /** The oldest first. */
  private readonly slices: Slice[] = [];
  private noted = 0;
  private missingUntil: number;

  /** @param knownSince before then ids may have been added without a note. */
  constructor(
    private readonly drainMs: number,
    knownSince = -Infinity,
  ) {
    this.missingUntil = knownSince + drainMs;
  }

  /** Notes that are kept. */
  get size(): number {
    return this.noted;
  }

  /** To be called before ids are recorded, and again when they are: `drainMs` counts from then. */
  note(texts: readonly string[]): void {
    const now = performance.now();
    const { visibleAt } = this.sliceOf(now);
    const before = visibleAt.size;
    for (const text of texts) visibleAt.set(ownText(text), now + this.drainMs);
    this.noted += visibleAt.size - before;
    if (this.noted <= MAX_ADDED) return;
    this.slices.length = this.noted = 0;
    this.missingUntil = now + this.drainMs;
  }

  /** To be called when a rebuild brought ids that this process did not add. */
  noteOthers(): void {
    this.missingUntil = Math.max(this.missingUntil, performance.now());
  }

  /** Whether a read of the database that began at `readAt` may have missed the row of the id. */
  mayMiss(text: string, readAt: number): boolean {
    const now = performance.now();
    if (readAt <= this.missingUntil || now - readAt > MAX_READ_MS) return true;
    this.prune(now);
    // The newest slice first: it has the last note of an id.
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
      this.noted -= this.slices.shift()!.visibleAt.size;
    }
  }
}
