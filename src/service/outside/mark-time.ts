import type { BloomMark } from '../../rebuild/index.js';

/** Without a zone a time is taken for the earliest that it may be. */
const EARLIEST_ZONE = '+14:00';
const TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(Z|[+-]\d\d(?::?\d\d)?)?$/;
const UUID7 = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
const ULID = /^([0-7][0-9A-HJKMNP-TV-Z]{9})[0-9A-HJKMNP-TV-Z]{16}$/i;
const OBJECT_ID = /^([0-9a-f]{8})[0-9a-f]{16}$/i;
/** The digits of a ULID, in their order. */
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * The time of a mark that is one, or has one in it, in milliseconds since 1970: a `Date`, a text of a time, a
 * UUID of version 7, a ULID, an ObjectId.
 */
export function timeOf(mark: BloomMark): number | undefined {
  if (mark instanceof Date) return mark.getTime();
  if (typeof mark !== 'string') return undefined;
  const [, high, low] = UUID7.exec(mark) ?? [];
  if (high !== undefined) return Number.parseInt(`${high}${low}`, 16);
  const [, digits] = ULID.exec(mark) ?? [];
  if (digits !== undefined)
    return [...digits.toUpperCase()].reduce((ms, digit) => 32 * ms + CROCKFORD.indexOf(digit), 0);
  const [, seconds] = OBJECT_ID.exec(mark) ?? [];
  if (seconds !== undefined) return 1000 * Number.parseInt(seconds, 16);
  const [time, zone] = TIME.exec(mark) ?? [];
  if (time === undefined) return undefined;
  const ms = Date.parse(zone === undefined ? `${time}${EARLIEST_ZONE}` : time);
  return Number.isNaN(ms) ? undefined : ms;
}
