import type { BloomVerdict } from '../../src/store/index.js';

/**
 * Knows which ids must not be answered "absent", and judges every verdict by what it knew when the question
 * was asked.
 */
export class Oracle {
  readonly violations: string[] = [];
  readonly verdicts = { absent: 0, maybe: 0, unknown: 0 };
  private readonly required = new Set<string>();
  /** Ids that the server has recorded at any time. */
  private readonly everRecorded = new Set<string>();
  /** Ids that the server has recorded and whose rows are not committed. */
  private readonly uncommitted = new Set<string>();
  private readonly committed = new Set<string>();
  /** Ids that the library has recorded, and not peers alone. */
  private readonly ofLibrary = new Set<string>();
  /** Ids that the server has recorded since a staging was published last. */
  private sincePublished = new Set<string>();
  /** For ids that were recorded before somebody emptied the filter: which time of emptying it was, from 1. */
  private readonly dropped = new Map<string, number>();
  /** How often the filter was emptied. */
  emptyings = 0;
  /** How many adds the server has recorded. */
  adds = 0;
  /** How often it has changed what is live: by an add or a swap. */
  written = 0;

  /**
   * An add was carried out by the server, one of a peer in the live filter alone; its caller need not know
   * yet. Where more ids are given than the add had, `isSure` is false: whoever empties the filter may have
   * dropped those that were added before.
   */
  recorded(ids: Iterable<string>, by: 'library' | 'peer' = 'library', isSure = true): void {
    this.adds++;
    this.written++;
    for (const id of ids) {
      this.everRecorded.add(id);
      if (by === 'library') this.ofLibrary.add(id);
      if (isSure) this.sincePublished.add(id);
      if (!this.committed.has(id)) this.uncommitted.add(id);
    }
  }

  /**
   * A filter of another size went live, into which no bits of peers could be carried over: it has what was
   * read, and adds of the library.
   */
  resized(read: readonly string[]): void {
    for (const id of this.required) {
      if (!this.ofLibrary.has(id) && !read.includes(id)) this.required.delete(id);
    }
  }

  /** From now on every add is written to a staging. */
  published(): void {
    this.sincePublished = new Set();
  }

  /** Somebody has emptied the filter: what was added before its staging was published may be absent. */
  emptied(): void {
    for (const id of this.required) if (!this.sincePublished.has(id)) this.required.delete(id);
    this.emptyings++;
    for (const id of this.everRecorded) {
      if (!this.sincePublished.has(id)) this.dropped.set(id, this.emptyings);
    }
  }

  /**
   * An add has ended. Where its id was dropped since it began (`emptyings` of then), it may be the dropped
   * one that is acknowledged: another add of the id, which was recorded since, speaks for itself when it
   * ends.
   */
  acknowledged(ids: readonly string[], emptyings: number): void {
    for (const id of ids) if ((this.dropped.get(id) ?? 0) <= emptyings) this.required.add(id);
  }

  /** A rebuild that read these rows went live. */
  built(ids: readonly string[]): void {
    for (const id of ids) this.required.add(id);
  }

  commit(ids: readonly string[]): void {
    for (const id of ids) {
      this.committed.add(id);
      this.uncommitted.delete(id);
    }
  }

  /** The process that would have committed these rows is gone, or gave up: they never come to be. */
  rollBack(ids: readonly string[]): void {
    for (const id of ids) {
      if (this.committed.has(id)) continue;
      this.uncommitted.delete(id);
      this.required.delete(id);
    }
  }

  /** Ids whose rows a scan that begins now might not see. */
  awaited(): Set<string> {
    return new Set(this.uncommitted);
  }

  /** Whether rows are on their way whose ids the server has recorded. */
  get awaitsRows(): boolean {
    return this.uncommitted.size > 0;
  }

  isAwaited(ids: ReadonlySet<string>): boolean {
    for (const id of ids) if (this.uncommitted.has(id)) return true;
    return false;
  }

  requiredIds(): string[] {
    return [...this.required].toSorted();
  }

  /** To be called when a check starts; the result judges its verdicts. */
  expect(ids: readonly string[], who: string): (verdicts: readonly BloomVerdict[]) => void {
    const required = ids.map((id) => this.required.has(id));
    return (verdicts) => {
      ids.forEach((id, i) => {
        this.verdicts[verdicts[i]!]++;
        const isWrong = verdicts[i] === 'absent' && required[i] && this.required.has(id);
        if (isWrong) this.violations.push(`${who} was told that ${id} is absent`);
      });
    };
  }
}
