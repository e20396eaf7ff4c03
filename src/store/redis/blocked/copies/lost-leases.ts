import type { BlockedSnapshot } from '../blocked-meta.js';

/**
 * For a process that knows of leases while the metadata do not: they were lost, or are those of an earlier
 * time. A copy may be believed in for as long as a lease since this was seen first, and none is granted while
 * it stays so.
 */
export class LostLeases {
  /** The longest lease that this process knows of; 0: it knows of none. */
  private ms: number;
  private seen: { readonly state: string; since: number; at: number } | undefined;

  constructor(leaseMs: number | undefined) {
    this.ms = leaseMs ?? 0;
  }

  get leaseMs(): number {
    return this.ms;
  }

  /**
   * Until when a copy may be believed in that these metadata do not know of, by `performance.now()`; 0: none.
   * To be called with every reading.
   */
  look({
    storedTag,
    leasesMs,
    server,
    runId,
    readAt,
    description,
  }: Omit<BlockedSnapshot, 'unseenUntil'>): number {
    if (leasesMs !== undefined) {
      this.ms = Math.max(this.ms, leasesMs);
      this.seen = undefined;
    } else if (this.ms > 0) {
      const state = [server, runId, storedTag, description.builds].join(' ');
      const { seen } = this;
      // A generation goes live once on one run of a server; its tag shows whether a lease was granted since.
      const isSameLive = description.generation !== undefined && runId !== '';
      // Within a gap that is shorter no generation can have gone live where none was, and been lost again.
      const isClose = seen !== undefined && readAt - seen.at < this.ms / 2;
      if (seen?.state === state && (isSameLive || isClose)) seen.at = readAt;
      else this.seen = { state, since: readAt, at: readAt };
    }
    return this.seen ? this.seen.since + this.ms : 0;
  }
}
