import type { BloomIdOrder } from './id-order.js';
import {
  type Expect,
  isInteger,
  milliseconds,
  type NestedOptions,
  oneOf,
  type OptionTable,
  TRUE_OR_FALSE,
} from '../../common/index.js';
import type { BloomIdSource } from '../../rebuild/index.js';

/**
 * How a filter learns of external writes: an import, another service, an SQL console. The source needs
 * `idsSince`.
 */
export type BloomTopUpOptions = BloomTopUpReading & (BloomUnknownBeyond | BloomAbsentBeyond);

/** When rows that others write are read, and how their ids are compared. */
export interface BloomTopUpReading {
  /** How often what is new is read and added, by one process of all, in milliseconds. Default 1,000. */
  readonly everyMs?: number;
  /**
   * Longest time from the moment a row is visible to the source until all rows before it in the order are
   * visible, in milliseconds: the longest transaction that writes rows, plus the differences of clocks that
   * make ids. A row that becomes visible later is not found before the next rebuild. Default:
   * `rebuild.drainMs`.
   */
  readonly overlapMs?: number;
  /** Order of the ids. Default: `integer` for numbers, bigints and texts of digits, else `text`. */
  readonly order?: BloomIdOrder;
}

/** Ids beyond the mark are answered by the filter, or pass. */
export interface BloomUnknownBeyond {
  /**
   * Ids are in the order of `idsSince`: an id beyond the mark that the filter does not have is `unknown`
   * (reason `beyond`), unless `beyond` is `'absent'`. Default false.
   */
  readonly ordered?: boolean;
  readonly beyond?: 'unknown';
  readonly slack?: undefined;
}

/** Ids far beyond the mark are answered by the filter. */
export interface BloomAbsentBeyond {
  readonly ordered: true;
  /**
   * `'absent'`: an id further than `slack` beyond the newest one is answered as the filter says. Default
   * `'unknown'`.
   */
  readonly beyond: 'absent';
  /**
   * More than the integers that are taken in five times `everyMs`, and in five seconds, with open
   * transactions.
   */
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

const SLACK = "a number of ids with topUp.beyond 'absent': those that may be taken before they are read";

export const TOP_UP: NestedOptions = {
  known: {
    everyMs: milliseconds(10, 'at least 10 milliseconds'),
    overlapMs: milliseconds(0),
    ordered: TRUE_OR_FALSE,
    order: oneOf('integer', 'text'),
    beyond: oneOf('unknown', 'absent'),
    slack: [SLACK, isInteger(0, Number.MAX_SAFE_INTEGER)],
  } satisfies OptionTable<BloomTopUpOptions>,
  expected: '{ everyMs, overlapMs, ordered, order, beyond, slack }',
};

interface TopUpPlace {
  readonly source: BloomIdSource | undefined;
  readonly drainMs: number;
  readonly stallMs: number;
}

/** @throws {BloomConfigError} for options that do not go together, or with their place. */
export function checkTopUp(
  options: BloomTopUpOptions,
  { source, drainMs, stallMs }: TopUpPlace,
  expect: Expect,
): void {
  const { overlapMs = drainMs, ordered = false, order, beyond, slack } = options;
  // A source that is made later has both names, whatever it will give.
  const withNewRows =
    'one that has idsSince(mark), since topUp is given; sources of this package have it with their option order';
  expect('source', source, withNewRows, source !== undefined && 'idsSince' in source);
  const belowStall = `a number of milliseconds below rebuild.stallMs, ${stallMs}`;
  expect('topUp.overlapMs', overlapMs, belowStall, overlapMs < stallMs);
  const inOrder = 'true with topUp.beyond, which speaks of ids in an order';
  expect('topUp.ordered', ordered, inOrder, ordered || beyond === undefined);
  if (beyond === 'absent') {
    const withDistance = "'integer' with topUp.beyond 'absent', since texts have no distance";
    expect('topUp.order', order, withDistance, order !== 'text');
    expect('topUp.slack', slack, SLACK, slack !== undefined);
  } else expect('topUp.slack', slack, "left out unless topUp.beyond is 'absent'", slack === undefined);
}
