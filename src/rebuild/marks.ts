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
