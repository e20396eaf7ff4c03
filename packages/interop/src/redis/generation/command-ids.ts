import type { IdKey } from 'nestjs-bloom/filter';
import { type BloomVerdict, isLongerThan } from 'nestjs-bloom/store';
import { asBuffer, type Outdated } from 'nestjs-bloom/internal';

/** An id as the argument of a command. */
export type CommandId = string | Buffer;

export function commandId(id: IdKey): CommandId {
  return typeof id === 'string' ? id : asBuffer(id);
}

/**
 * A verdict for each id. One that does not fit this process is not asked for, and is `unknown`: another
 * process may have added it.
 *
 * @param find whether the filter holds each of the ids that fit.
 */
export async function checkFitting(
  ids: readonly IdKey[],
  fits: (id: IdKey) => boolean,
  find: (fitting: readonly IdKey[]) => Promise<readonly boolean[] | Outdated>,
): Promise<BloomVerdict[] | Outdated> {
  const isAsked = ids.map(fits);
  if (!isAsked.includes(true)) return ids.map(() => 'unknown');
  const found = await find(ids.filter((_, i) => isAsked[i]));
  if (typeof found === 'string') return found;
  let next = 0;
  return isAsked.map((asked) => (asked ? (found[next++] === false ? 'absent' : 'maybe') : 'unknown'));
}

/** The same for a filter that takes every id that is not too long. */
export function checkShortEnough(
  maxIdBytes: number,
  ids: readonly IdKey[],
  find: (fitting: readonly IdKey[]) => Promise<readonly boolean[] | Outdated>,
): Promise<BloomVerdict[] | Outdated> {
  return checkFitting(ids, (id) => !isLongerThan(id, maxIdBytes), find);
}
