import type { BloomIdOrder } from './id-order.js';

/** How a filter learns of rows that others write: an import, another service, an SQL console. Its source needs `idsSince`. */
export type BloomTopUpOptions = BloomTopUpReading & (BloomUnknownBeyond | BloomAbsentBeyond);

/** When rows that others write are read, and how their ids are compared. */
export interface BloomTopUpReading {
  /** How often what is new is read and added, by one process of all, in milliseconds. Default 1,000. */
  readonly everyMs?: number;
  /**
   * Longest time from the moment at which a row is visible to the source until all rows that come before it in the order are visible too, in milliseconds. Ids are
   * taken before the commit: it is the longest transaction that writes rows, plus the differences of clocks where clocks make the ids. What is new
   * is read again until it is this old, and a row that becomes visible later is not found before the next rebuild. Default: `rebuild.drainMs`.
   */
  readonly overlapMs?: number;
  /** How ids follow one another. Default: `integer` where they are numbers, bigints or texts of digits, else `text`. */
  readonly order?: BloomIdOrder;
}

/** Ids beyond the mark are answered by the filter, or pass. */
export interface BloomUnknownBeyond {
  /**
   * Ids are in the order of `idsSince`, so that an id beyond the last one of which the filter is sure is `unknown` and passes, where the filter does not have it
   * (reason `beyond`). Whoever asks for ids beyond it reaches the database, unless `beyond` is `'absent'`. Default false.
   */
  readonly ordered?: boolean;
  readonly beyond?: 'unknown';
  readonly slack?: undefined;
}

/** Ids far beyond the mark are answered by the filter. */
export interface BloomAbsentBeyond {
  readonly ordered: true;
  /** `'absent'`: an id that is further than `slack` beyond the newest id that was read is answered as the filter says. Default `'unknown'`. */
  readonly beyond: 'absent';
  /** Of integers: more than the ids that are taken in five times `everyMs`, and in five seconds, with the transactions that are open. */
  readonly slack: number;
}

/** With every default filled in. */
export interface TopUpSettings {
  readonly everyMs: number;
  readonly overlapMs: number;
  readonly ordered: boolean;
  readonly order: BloomIdOrder | undefined;
  /** Undefined: nothing beyond is refused. */
  readonly slack: bigint | undefined;
}

const EVERY_MS = 1000;

export function topUpSettings(options: BloomTopUpOptions, drainMs: number): TopUpSettings {
  const { everyMs = EVERY_MS, overlapMs = drainMs, ordered = false, order, beyond, slack } = options;
  return {
    everyMs,
    overlapMs,
    ordered,
    order,
    slack: beyond === 'absent' && slack !== undefined ? BigInt(slack) : undefined,
  };
}
