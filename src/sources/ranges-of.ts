import { BloomConfigError } from '../common/index.js';
import { wrongRangeBound, wrongRangeCount } from './sources.messages.js';

/** Values of a column of integers, its bounds included. */
export interface BloomRange {
  readonly least: bigint;
  readonly most: bigint;
}

const LEAST = -(2n ** 63n);
const MOST = 2n ** 63n - 1n;
const MOST_RANGES = 1000;

/**
 * Ranges of a column of integers, of which each integer of 64 bits is in exactly one: to read one table by several sources at the same time. Values from `least` to
 * `most` are dealt evenly; what is less is in the first range, what is more in the last one. An update must not change the column.
 *
 * @param count how many ranges at most.
 * @example
 * rangesOf(1, 40_000_000, 4).map(({ least, most }) => fromPages<Row>(
 *   (after, { take }) => sql`select id from products where id between ${after ? BigInt(after.id) + 1n : least} and ${most} order by id limit ${take}`,
 *   { key: 'id' },
 * ));
 *
 * @throws {BloomConfigError} for bounds that are no integers of 64 bits, or in the wrong order, and for a number of ranges that is not from 1 to 1,000.
 */
export function rangesOf(least: number | bigint, most: number | bigint, count: number): BloomRange[] {
  const [from, to] = [bound('least', least), bound('most', most)];
  if (from > to) throw new BloomConfigError(wrongRangeBound('most', `at least ${from}`, most));
  if (!Number.isSafeInteger(count) || count < 1 || count > MOST_RANGES)
    throw new BloomConfigError(wrongRangeCount(MOST_RANGES, count));
  const values = to - from + 1n;
  const ranges = values < BigInt(count) ? values : BigInt(count);
  const begin = (i: bigint) => from + (values * i) / ranges;
  return Array.from({ length: Number(ranges) }, (_, i) => ({
    least: i === 0 ? LEAST : begin(BigInt(i)),
    most: i === Number(ranges) - 1 ? MOST : begin(BigInt(i + 1)) - 1n,
  }));
}

function bound(name: string, value: unknown): bigint {
  if (typeof value === 'bigint' && value >= LEAST && value <= MOST) return value;
  if (Number.isSafeInteger(value)) return BigInt(value as number);
  throw new BloomConfigError(wrongRangeBound(name, 'a safe integer, or a bigint of 64 bits', value));
}
