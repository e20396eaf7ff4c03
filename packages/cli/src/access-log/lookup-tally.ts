import { createHash } from 'node:crypto';
import type { LoggedRequest } from './logged-request.js';

/** What a minute had of the route. */
export interface MinuteTally {
  readonly minute: string;
  lookups: number;
  missing: number;
}

/** Distinct ids that are counted: they take about 100 MB. */
const MOST_DISTINCT = 1_000_000;
/** Minutes that may still get requests; logs are nearly in order. */
const MOST_MINUTES = 5000;
/** 66 bits: ids with the same do not occur. */
const DIGEST_LENGTH = 11;

/** Counts the lookups of one route. Takes bounded memory, however long the log is. */
export class LookupTally {
  lookups = 0;
  missing = 0;
  /** Requests of the route whose answer does not say whether the id exists, by status. */
  readonly otherAnswers = new Map<number, number>();
  /** The minute with the most lookups of missing ids. */
  busiest: MinuteTally | undefined;
  /** False: there are more distinct ids than were counted. */
  isDistinctComplete = true;
  private readonly distinctIds = new Set<string>();
  private readonly minutes = new Map<string, MinuteTally>();

  constructor(
    private readonly idOf: (path: string) => string | undefined,
    private readonly missingStatuses: ReadonlySet<number>,
    private readonly mostDistinct = MOST_DISTINCT,
  ) {}

  get distinct(): number {
    return this.distinctIds.size;
  }

  add({ method, path, status, minute }: LoggedRequest): void {
    // The question of a browser before the request itself.
    if (method === 'OPTIONS') return;
    const id = this.idOf(path);
    if (id === undefined) return;
    const isMissing = this.missingStatuses.has(status);
    if (!isMissing && status >= 400) {
      this.otherAnswers.set(status, (this.otherAnswers.get(status) ?? 0) + 1);
      return;
    }
    this.lookups++;
    const tally = this.tallyOf(minute);
    tally.lookups++;
    if (!isMissing) return;
    this.missing++;
    tally.missing++;
    if (minute !== '' && tally.missing > (this.busiest?.missing ?? 0)) this.busiest = tally;
    this.addDistinct(id);
  }

  private tallyOf(minute: string): MinuteTally {
    const known = this.minutes.get(minute);
    if (known) return known;
    const tally = { minute, lookups: 0, missing: 0 };
    this.minutes.set(minute, tally);
    const [oldest] = this.minutes.keys();
    if (this.minutes.size > MOST_MINUTES) this.minutes.delete(oldest!);
    return tally;
  }

  private addDistinct(id: string): void {
    const digest = createHash('sha1').update(id).digest('base64').slice(0, DIGEST_LENGTH);
    if (this.distinctIds.size < this.mostDistinct) this.distinctIds.add(digest);
    else this.isDistinctComplete &&= this.distinctIds.has(digest);
  }
}
