/**
 * A place in the order in which new rows come last: an id, or another value that grows from row to row, such
 * as a `created_at`.
 */
export type BloomMark = string | number | bigint | Date;

const FORMS: Readonly<Record<string, (text: string) => BloomMark>> = {
  string: (text) => text,
  number: Number,
  bigint: BigInt,
  date: (text) => new Date(text),
};

/** A text that `markOf` reads. */
export function textOfMark(mark: BloomMark): string {
  return mark instanceof Date ? `date:${mark.toISOString()}` : `${typeof mark}:${mark}`;
}

/** The mark of a text of `textOfMark`, of the type that it had; undefined for any other text. */
export function markOf(text: string): BloomMark | undefined {
  const [, form = '', value = ''] = /^(\w+):(.*)$/s.exec(text) ?? [];
  try {
    const mark = FORMS[form]?.(value);
    return isMark(mark) && textOfMark(mark) === text ? mark : undefined;
  } catch {
    return undefined;
  }
}

export function isMark(value: unknown): value is BloomMark {
  if (value instanceof Date) return Number.isFinite(value.getTime());
  return typeof value === 'string' || typeof value === 'bigint' || Number.isSafeInteger(value);
}

/** For people. Undefined where there is none. */
export function printedMark(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const mark = markOf(text);
  return mark instanceof Date ? mark.toISOString() : String(mark ?? text);
}

/** A time without a zone is taken for the earliest that it may be. */
const EARLIEST_ZONE = '+14:00';
const TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(Z|[+-]\d\d(?::?\d\d)?)?$/;
/** Forms of texts that begin with the time at which they were made. */
const UUID7 = /^([0-9a-f]{8})-?([0-9a-f]{4})-?7[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i;
const ULID = /^([0-7][0-9A-HJKMNP-TV-Z]{9})[0-9A-HJKMNP-TV-Z]{16}$/i;
const OBJECT_ID = /^([0-9a-f]{8})[0-9a-f]{16}$/i;
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * Time in a mark, in milliseconds since 1970: a `Date`, a text of a time, a UUID of version 7, a ULID, an
 * ObjectId.
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

/** Whether a text has the form of ids of a kind that begin with a time. */
export function hasForm(kind: 'uuidv7' | 'ulid' | 'objectId', id: string): boolean {
  return { uuidv7: UUID7, ulid: ULID, objectId: OBJECT_ID }[kind].test(id);
}
