import type { BloomFeed, BloomIdSource } from '../../rebuild/index.js';
import type { Expect } from '../expect.js';
import * as must from '../filter-options.messages.js';
import { type BloomTopUpOptions, type TopUpSettings, topUpSettings } from './top-up-options.js';

/** What a timer of Node can wait. */
const MAX_DELAY_MS = 2 ** 31 - 1;
const LEAST_EVERY_MS = 10;

interface TopUpPlace {
  readonly source: BloomIdSource | undefined;
  readonly drainMs: number;
  readonly stallMs: number;
}

/**
 * The settings of the option `topUp`; undefined without it.
 *
 * @throws {BloomConfigError} for what cannot work.
 */
export function checkTopUp(
  options: BloomTopUpOptions | undefined,
  { source, drainMs, stallMs }: TopUpPlace,
  expect: Expect,
): TopUpSettings | undefined {
  if (options === undefined) return undefined;
  expect('topUp', options, must.TOP_UP, typeof options === 'object' && options !== null);
  const { ordered = false, order, beyond, slack } = options as BloomTopUpOptions & { slack?: unknown };
  // Of a source that is yet to be made it is not known what it gives.
  expect('source', source, must.SOURCE_OF_TOP_UP, source !== undefined && 'idsSince' in source);
  const { everyMs = LEAST_EVERY_MS, overlapMs = drainMs } = options;
  expect('topUp.everyMs', everyMs, must.TOP_UP_EVERY_MS, isInteger(everyMs, LEAST_EVERY_MS, MAX_DELAY_MS));
  expect('topUp.overlapMs', overlapMs, must.lessThanStall(stallMs), isInteger(overlapMs, 0, stallMs - 1));
  expect('topUp.ordered', ordered, must.TRUE_OR_FALSE, typeof ordered === 'boolean');
  expect('topUp.order', order, must.ID_ORDER, order === undefined || order === 'integer' || order === 'text');
  const isBeyond = beyond === undefined || beyond === 'unknown' || beyond === 'absent';
  expect('topUp.beyond', beyond, must.BEYOND, isBeyond);
  const isRefusing = beyond === 'absent';
  expect('topUp.ordered', ordered, must.ORDERED_FOR_BEYOND, ordered || beyond === undefined);
  expect('topUp.order', order, must.INTEGER_FOR_SLACK, !isRefusing || order !== 'text');
  expect('topUp.slack', slack, must.SLACK, !isRefusing || isInteger(slack, 0, Number.MAX_SAFE_INTEGER));
  expect('topUp.slack', slack, must.NO_SLACK, isRefusing || slack === undefined);
  return topUpSettings(options, drainMs);
}

/** @throws {BloomConfigError} for what cannot work. */
export function checkFeed(
  feed: BloomFeed | undefined,
  source: BloomIdSource | undefined,
  expect: Expect,
): void {
  if (feed === undefined) return;
  expect('feed', feed, must.FEED, typeof feed === 'object' && typeof feed?.follow === 'function');
  expect('source', source, must.SOURCE_OF_FEED, source !== undefined);
}

function isInteger(value: unknown, from: number, to: number): boolean {
  return Number.isSafeInteger(value) && Number(value) >= from && Number(value) <= to;
}
