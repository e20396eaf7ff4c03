import type { IdKey } from '../filter/index.js';
import type { BloomMark } from './marks.js';
import { type BloomIdSource, expectAsync } from './source.js';

/** More missing ids than this are no rows that were deleted meanwhile. */
const MOST_LOOKED_FOR = 50;

/**
 * The ids of these that are of rows now. A row that a rebuild has read may have been deleted since, and its
 * id taken out by `remove`. All of them where the source cannot tell. Throws what the source throws.
 */
export async function rowsThere(
  source: BloomIdSource,
  keys: readonly IdKey[],
  toKey: (id: unknown) => IdKey | undefined,
): Promise<readonly IdKey[]> {
  if (keys.length === 0 || keys.length > MOST_LOOKED_FOR || !source.idsSince) return keys;
  const newest = await source.newest?.();
  const there: IdKey[] = [];
  for (const key of keys) {
    const before = newest === undefined ? undefined : integerBefore(key, newest);
    if (before === undefined) return keys;
    const found = await firstAfter(source, before);
    if (found === 'no id') return keys;
    if (found !== undefined && toKey(found) === key) there.push(key);
  }
  return there;
}

/** As a mark of the type of another mark; undefined for an id that is no integer. */
function integerBefore(key: IdKey, mark: BloomMark): BloomMark | undefined {
  if (typeof key !== 'string' || !/^-?\d+$/.test(key) || mark instanceof Date) return undefined;
  const before = BigInt(key) - 1n;
  if (typeof mark === 'number') return Number(before);
  return typeof mark === 'bigint' ? before : String(before);
}

async function firstAfter(source: BloomIdSource, mark: BloomMark): Promise<unknown> {
  const ended = new AbortController();
  try {
    for await (const found of expectAsync(source.idsSince!(mark, { signal: ended.signal }), 'idsSince')) {
      if (typeof found !== 'object' || found instanceof Uint8Array) return found;
      // Rows come in the order of another value: this one does not say where a row is.
      if ('mark' in found) return 'no id';
      if (found.length > 0) return found[0];
    }
    return undefined;
  } finally {
    ended.abort();
  }
}
