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
import type { BloomTopUpOptions } from './top-up-options.js';

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
  // Of a source that is yet to be made it is not known what it gives.
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
