import { createHash } from 'node:crypto';

/** The field that says whether the counts beside it are those that were written with a generation. */
export function countsSumField(generation: string, counts: readonly (string | number)[]): [string, string] {
  return ['countsSum', countsSum(generation, counts)];
}

/**
 * Whether counts may be planned by. An older version writes no sum, and leaves that of another generation: then they stand as they are.
 *
 * @param generation that is live; undefined: none.
 */
export function areCountsBelieved(
  meta: Pick<ReadonlyMap<string, string>, 'get'>,
  generation: string | undefined,
  fields: readonly string[],
): boolean {
  const sum = meta.get('countsSum');
  if (sum === undefined) return true;
  const [summed = ''] = sum.split(' ');
  if (generation !== undefined && generation !== summed) return true;
  const counts = fields.map((field) => meta.get(field) ?? '');
  return sum === countsSum(summed, counts);
}

function countsSum(generation: string, counts: readonly (string | number)[]): string {
  const digest = createHash('sha1')
    .update([generation, ...counts].join(' '))
    .digest('hex');
  return `${generation} ${digest.slice(0, 16)}`;
}
