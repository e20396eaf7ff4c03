import { GenerationKeys } from '@nestjs-bloom/interop/internal';
import type { RedisConnection } from 'nestjs-bloom/internal';
import { escapedPattern, purposeOf } from './key-facts.js';

/** A filter, as its keys name it. */
export interface FilterName {
  readonly keyPrefix: string;
  readonly name: string;
  /** Key of another system that the filter is on. */
  readonly key?: string | undefined;
}

export interface FoundKey {
  readonly key: string;
  readonly what: string;
  /** Keys with the same hash tag have the same. */
  readonly part: string;
}

/** What Redis has under the name of a filter. */
export interface KeysOfFilter {
  readonly keys: readonly FoundKey[];
  /** Number of keys that this library has not named. */
  readonly others: number;
}

/** `bloom:{products}:meta`: prefix, filter, part, and the rest. */
const KEY = /^([^{}\s]+):\{([\w.-]+)(#[\d.]+)?\}:(.+)$/s;
const OWN_META = /^((bf|cf):nestjs-bloom:)?meta$/;
/** Beside a key of another system, which stands first. */
const PEER = /^(.*\{[^}]+\}.*:nestjs-bloom):(.+)$/s;
const PEER_META = /^(.*\{[^}]+\}.*):nestjs-bloom:meta$/s;

/**
 * Filters that have metadata, from a walk over all keys.
 *
 * @param keyPrefix undefined: any
 */
export async function findFilters(
  connection: RedisConnection,
  keyPrefix: string | undefined,
): Promise<FilterName[]> {
  const found = new Map<string, FilterName>();
  const pattern = keyPrefix === undefined ? '*:meta' : `${escapedPattern(keyPrefix)}:{*:meta`;
  for await (const keys of connection.scan(pattern)) {
    for (const one of keys.flatMap((key) => filterOfMeta(key) ?? [])) found.set(baseOf(one), one);
  }
  return [...found].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, filter]) => filter);
}

/** The keys of each filter, from one walk over all keys. */
export async function keysOf(
  connection: RedisConnection,
  filters: readonly FilterName[],
): Promise<KeysOfFilter[]> {
  const found = filters.map(() => ({ keys: new Map<string, FoundKey>(), others: 0 }));
  const byBase = new Map(filters.map((filter, i) => [baseOf(filter), found[i]!]));
  const pattern = filters.length === 1 ? patternOf(filters[0]!) : '*{*}*:*';
  for await (const keys of connection.scan(pattern)) {
    for (const key of keys) {
      const { base, part, rest } = placeOf(key);
      const filter = byBase.get(base);
      const what = purposeOf(rest);
      if (filter && what !== undefined) filter.keys.set(key, { key, what, part });
      else if (filter) filter.others++;
    }
  }
  return found.map(({ keys, others }) => ({ keys: [...keys.values()], others }));
}

function filterOfMeta(key: string): FilterName | undefined {
  const [, keyPrefix, name, , rest] = KEY.exec(key) ?? [];
  if (keyPrefix !== undefined && OWN_META.test(rest!)) return { keyPrefix, name: name! };
  const [, tagged] = PEER_META.exec(key) ?? [];
  // A key without a hash tag stands in braces here.
  return tagged === undefined
    ? undefined
    : { keyPrefix: '', name: '', key: /^\{([^{}]+)\}$/.exec(tagged)?.[1] ?? tagged };
}

/** What the keys of a filter begin with, without the number of a part. */
function baseOf({ keyPrefix, name, key }: FilterName): string {
  if (key === undefined) return `${keyPrefix}:{${name}}`;
  return new GenerationKeys(key).meta.slice(0, -':meta'.length);
}

function placeOf(key: string): { readonly base: string; readonly part: string; readonly rest: string } {
  const [, keyPrefix = '', name = '', part = '', rest = ''] = KEY.exec(key) ?? [];
  const [, peerBase, peerRest] = PEER.exec(key) ?? [];
  if (peerBase === undefined || purposeOf(rest) !== undefined)
    return { base: baseOf({ keyPrefix, name }), part, rest };
  return { base: peerBase, part: '', rest: peerRest! };
}

function patternOf(filter: FilterName): string {
  const { keyPrefix, name, key } = filter;
  if (key !== undefined) return `${escapedPattern(baseOf(filter))}:*`;
  return `${escapedPattern(`${keyPrefix}:{${name}`)}[}#]*`;
}
