import type { BloomOpenTransactions } from '../../rebuild/index.js';
import type { PlacedMark } from './mark-place.js';

/** A row that the mark may move to when it is old enough, and the transactions of then have ended. */
interface Candidate extends PlacedMark {
  readonly at: number;
  /** No transaction that may have an id before this row has this number or a larger one. */
  until?: bigint;
}

/** What is known of the candidates before a reading begins. */
export interface Settled {
  /** The mark may move to it, by a reading of everything after the old one. */
  readonly settled: PlacedMark | undefined;
  /** The last one that is old enough. */
  readonly aged: PlacedMark | undefined;
}

/** Candidates kept in the time that one waits. */
const KEPT_IN_OVERLAP = 8;
/** Each second one goes when transactions are open for so long that there are more. */
const MOST = 64;

/**
 * Rows that the mark may move to. `overlapMs` after a row was seen, each row before it that will ever be
 * visible is so, where nothing is known of transactions. Else each of those rows has a transaction by then,
 * whose number is below the next one: the row is settled when all of these have ended.
 */
export class Candidates {
  private kept: readonly Candidate[] = [];
  private server: string | undefined;

  constructor(private readonly overlapMs: number) {}

  get newest(): PlacedMark | undefined {
    return this.kept.at(-1);
  }

  forget(): void {
    this.kept = [];
  }

  /**
   * To be called before each reading, also one that finds candidates.
   *
   * @param now before `open` was asked for.
   */
  look(now: number, open: BloomOpenTransactions | undefined): Settled {
    // Another server may lack rows that were seen, give their ids out again, and count otherwise.
    if (this.server !== open?.server) this.forget();
    this.server = open?.server;
    const aged = this.kept.filter(({ at }) => at <= now - this.overlapMs);
    if (!open) return { settled: aged.at(-1), aged: aged.at(-1) };
    for (const candidate of aged) candidate.until ??= open.next;
    return { settled: aged.findLast(({ until }) => until! <= open.oldest), aged: aged.at(-1) };
  }

  /** To be asked after a reading, before the mark moves: another server may have answered it. */
  isSame(open: BloomOpenTransactions | undefined): boolean {
    return this.server === open?.server;
  }

  keep(place: PlacedMark, at: number): void {
    const { kept, overlapMs } = this;
    const last = kept.at(-1);
    if (last && at - last.at < overlapMs / KEPT_IN_OVERLAP) return;
    const fewer = kept.length < MOST ? kept : kept.filter((_, i) => i % 2 === 0);
    this.kept = [...fewer, { ...place, at }];
  }

  /** To be called when the mark has moved to one of them. */
  dropUpTo(mark: PlacedMark): void {
    this.kept = this.kept.slice(1 + this.kept.findIndex((candidate) => candidate === mark));
  }
}
