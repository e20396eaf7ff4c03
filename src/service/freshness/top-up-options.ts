import { compareKeys, isOfOrder } from './id-order.js';
import {
  type Expect,
  isInteger,
  milliseconds,
  type NestedOptions,
  oneOf,
  type OptionTable,
} from '../../common/index.js';
import { type BloomId, toIdKey } from '../../filter/index.js';
import type { BloomIdOrder, BloomIdSource } from '../../rebuild/index.js';
import {
  NO_IDS_SINCE,
  NORMALIZE_REORDERS,
  notCovered,
  ORDER_NOT_SAID,
  SCOPED,
  WITH_IDS_SINCE,
} from '../service.messages.js';

/**
 * How a filter learns of external writes: an import, another service, an SQL console. The source needs
 * `idsSince`.
 */
export type BloomTopUpOptions = BloomTopUpReading & (BloomUnknownBeyond | BloomAbsentBeyond);

/** When rows that others write are read. */
export interface BloomTopUpReading {
  /** How often what is new is read and added, by one process of all, in milliseconds. Default 1,000. */
  readonly everyMs?: number;
  /**
   * How long an id may be on its way while later rows are visible, in milliseconds. On a primary of Postgres
   * 13 or later: from the moment it is taken to the insert of its row. Elsewhere: until its row is visible,
   * so the longest transaction that writes rows. Plus the differences of clocks that make ids. A row that
   * takes longer is not found before the next rebuild. Default: `rebuild.drainMs`.
   */
  readonly overlapMs?: number;
}

/** Ids beyond the mark pass, where ids are covered. */
export interface BloomUnknownBeyond {
  /** Ids beyond the mark are looked up. */
  readonly beyond?: 'unknown';
  /** Only with `beyond: 'absent'`. */
  readonly slack?: undefined;
}

/** Ids far beyond the mark are answered by the filter, where ids are covered. */
export interface BloomAbsentBeyond {
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
  /** Ids are covered up to a mark. */
  readonly ordered: boolean;
  /** As the source says. */
  readonly order: BloomIdOrder | undefined;
  /** Undefined: nothing beyond is refused. */
  readonly slack: bigint | undefined;
}

const EVERY_MS = 1000;

/** What decides how a filter learns of external writes. */
export interface FollowedOptions {
  readonly topUp?: BloomTopUpOptions | undefined;
  readonly coverage?: 'ordered' | 'none' | undefined;
  readonly source?: BloomIdSource | undefined;
  /** The ids of the source have scopes, by which they are in no order. */
  readonly scoped?: boolean;
  /** As it is used, by option or by the source. */
  readonly normalize: ((id: BloomId) => BloomId) | undefined;
  readonly drainMs: number;
}

/** Undefined for a filter that reads nothing between rebuilds. */
export function topUpSettings(options: FollowedOptions): TopUpSettings | undefined {
  const { topUp, coverage, source, drainMs } = options;
  const ordered = coverage !== 'none' && source !== undefined && whyNotOrdered(options) === undefined;
  if (!ordered && !topUp) return undefined;
  const { everyMs = EVERY_MS, overlapMs = drainMs, beyond, slack } = topUp ?? {};
  const order = source?.idOrder;
  return {
    everyMs,
    overlapMs,
    ordered,
    order: typeof order === 'string' ? order : undefined,
    slack: ordered && beyond === 'absent' && slack !== undefined ? BigInt(slack) : undefined,
  };
}

/** Why ids cannot be covered, as a part of a sentence; undefined where they can. */
export function whyNotOrdered({ source, scoped, normalize }: FollowedOptions): string | undefined {
  if (scoped) return SCOPED;
  const idOrder = source?.idOrder ?? undefined;
  if (typeof idOrder === 'object') return idOrder.reason;
  if (idOrder === undefined) return ORDER_NOT_SAID;
  if (typeof source!.idsSince !== 'function') return NO_IDS_SINCE;
  return normalize && reorders(normalize, idOrder) ? NORMALIZE_REORDERS : undefined;
}

/** Ids in ascending order, of one form each. */
const ASCENDING: Readonly<Record<BloomIdOrder, readonly (readonly BloomId[])[]>> = {
  integer: [[2, 9, 10, 99, 100, 12_345, 9_007_199_254_740_993n]],
  text: [
    ['01ARZ3NDEKTSV4RRFFQ69G5FAZ', '01BX5ZZKBKACTAV9WEVGEMMVRA', '01BX5ZZKBKACTAV9WEVGEMMVRB'],
    ['01890a5d-ac96-774b-bcce-b302099a8059', '01890a5d-ac97-7000-8abc-def012345670'],
    ['507f1f77bcf86cd79943901f', '507f1f77bcf86cd799439020', '65a1b2c3d4e5f60718293a40'],
  ],
};

function reorders(normalize: (id: BloomId) => BloomId, order: BloomIdOrder): boolean {
  return ASCENDING[order].some((ids) => {
    try {
      const keys = ids.map((id) => toIdKey(normalize(id)));
      return keys.some((key, i) => {
        const before = keys[i - 1];
        if (!isOfOrder(order, key)) return true;
        return typeof before === 'string' && compareKeys(order, before, key) >= 0;
      });
    } catch {
      // It is for ids of another form.
      return order === 'integer';
    }
  });
}

const SLACK = "a number of ids with topUp.beyond 'absent': those that may be taken before they are read";

export const TOP_UP: NestedOptions = {
  known: {
    everyMs: milliseconds(10, 'at least 10 milliseconds'),
    overlapMs: milliseconds(0),
    beyond: oneOf('unknown', 'absent'),
    slack: [SLACK, isInteger(0, Number.MAX_SAFE_INTEGER)],
  } satisfies OptionTable<BloomTopUpOptions>,
  expected: '{ everyMs, overlapMs, beyond, slack }',
  elsewhere: (name) =>
    name === 'ordered' || name === 'order'
      ? "Write coverage: 'ordered' beside topUp, or leave it out; the source says its order by idOrder."
      : undefined,
};

/** @throws {BloomConfigError} for options that do not go together, whatever the source is. */
export function checkTopUp(
  { topUp: { beyond, slack } = {}, coverage }: Pick<FollowedOptions, 'topUp' | 'coverage'>,
  expect: Expect,
): void {
  const inOrder = "'ordered' with topUp.beyond, which speaks of ids in an order";
  expect('coverage', coverage, inOrder, coverage !== 'none' || beyond === undefined);
  if (beyond === 'absent') expect('topUp.slack', slack, SLACK, slack !== undefined);
  else expect('topUp.slack', slack, "left out unless topUp.beyond is 'absent'", slack === undefined);
}

/** @throws {BloomConfigError} for a source that cannot do what the options ask for. */
export function checkFollowed(options: FollowedOptions & { readonly stallMs: number }, expect: Expect): void {
  const { source, topUp, coverage, stallMs } = options;
  const idOrder = source?.idOrder ?? undefined;
  const isOrder = idOrder === undefined || typeof idOrder === 'object' || Object.hasOwn(ASCENDING, idOrder);
  expect('source.idOrder', idOrder, "'integer', 'text' or { reason }", isOrder);
  expect('source', source, WITH_IDS_SINCE, topUp === undefined || typeof source?.idsSince === 'function');
  const { overlapMs = 0 } = topUpSettings(options) ?? {};
  const belowStall = `a number of milliseconds below rebuild.stallMs, ${stallMs}`;
  expect('topUp.overlapMs', overlapMs, belowStall, overlapMs < stallMs);
  if (coverage === 'none') return;
  const reason = whyNotOrdered(options);
  const leftOut = notCovered(reason ?? '');
  const beyond = topUp?.beyond;
  expect('coverage', coverage, leftOut, coverage === undefined || reason === undefined);
  expect('topUp.beyond', beyond, leftOut, beyond === undefined || reason === undefined);
  const withDistance = 'left out with ids that are texts, which have no distance';
  expect('topUp.beyond', beyond, withDistance, beyond !== 'absent' || idOrder !== 'text');
}
