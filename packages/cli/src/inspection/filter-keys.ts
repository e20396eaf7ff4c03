import { GenerationKeys } from '@nestjs-bloom/interop/internal';
import { partName, type RedisConnection, type ServerScripts } from 'nestjs-bloom/internal';
import { escapedPattern, purposeOf } from './key-facts.js';
import { heldValue, OwnedKeys } from './owned-keys.js';

/** A filter, as its keys name it. */
export interface FilterName {
  readonly keyPrefix: string;
  readonly name: string;
  /** Key of another system that the filter is on. */
  readonly key?: string | undefined;
}

/** A key whose name begins as those of a filter do. */
export interface NamedKey {
  readonly key: string;
  /** The rest of its name. */
  readonly rest: string;
  /** Keys with the same hash tag have the same. */
  readonly part: string;
}

export interface FoundKey extends NamedKey {
  readonly what: string;
  readonly bytes: number;
}

/** What Redis has under the name of a filter. */
export interface KeysOfFilter {
  /** Those that this library has written, by what the metadata say and they hold. */
  readonly keys: readonly FoundKey[];
  readonly others: readonly string[];
}

export interface KeyAccess {
  readonly connection: RedisConnection;
  readonly scripts: ServerScripts;
  readonly keyPrefix: string;
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
    const metas = await Promise.all(
      keys.map(async (key) => {
        const filter = filterOfMeta(key);
        return filter && (await hasFormat(connection, key)) ? filter : [];
      }),
    );
    for (const one of metas.flat()) found.set(baseOf(one), one);
  }
  return [...found].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, filter]) => filter);
}

/** Applications have keys of such names as well. */
export async function hasFormat(connection: RedisConnection, meta: string): Promise<boolean> {
  const format = await connection.commandWrite('HGET', meta, ['format']).catch(ofOtherType);
  return /^[1-9]\d{0,8}$/.test(String(format));
}

function ofOtherType(error: unknown): undefined {
  if (!String(error).includes('WRONGTYPE')) throw error;
}

/** Keys with the names of each filter, from one walk over all keys. Nothing is read of them. */
export async function namedKeys(
  connection: RedisConnection,
  filters: readonly FilterName[],
): Promise<NamedKey[][]> {
  const found = filters.map(() => new Map<string, NamedKey>());
  const byBase = new Map(filters.map((filter, i) => [baseOf(filter), found[i]!]));
  const pattern = filters.length === 1 ? patternOf(filters[0]!) : '*{*}*:*';
  for await (const keys of connection.scan(pattern)) {
    for (const key of keys) {
      const { base, part, rest } = placeOf(key);
      byBase.get(base)?.set(key, { key, part, rest });
    }
  }
  return found.map((named) => [...named.values()]);
}

/** Keys that are looked at at once. */
const AT_ONCE = 256;

/** Tells which of these keys this library has written. */
export async function ownedKeys(
  access: KeyAccess,
  filter: FilterName,
  named: readonly NamedKey[],
): Promise<KeysOfFilter> {
  const owned = new Map<string, OwnedKeys | undefined>();
  for (const part of new Set(named.map((one) => one.part)))
    owned.set(part, isPart(filter, part) ? await OwnedKeys.of(ofPart(access, filter, part)) : undefined);
  const keys: FoundKey[] = [];
  const others: string[] = [];
  for (let at = 0; at < named.length; at += AT_ONCE) {
    const some = named.slice(at, at + AT_ONCE);
    const values = await Promise.all(some.map(({ key }) => heldValue(access.connection, key)));
    for (const [i, one] of some.entries()) {
      const { bytes } = values[i]!;
      const what = purposeOf(one.rest);
      const isOurs = what !== undefined && owned.get(one.part)?.has(one.key, one.rest, values[i]!);
      if (isOurs) keys.push({ ...one, what, bytes });
      else others.push(one.key);
    }
  }
  return { keys, others };
}

/** @param part `#7.0`, or '' for the first one, or a filter that is not divided */
function isPart({ name }: FilterName, part: string): boolean {
  const [, index] = /^#(\d{1,4})\.\d+$/.exec(part) ?? [];
  return part === '' || (index !== undefined && partName(name, Number(index)) === name + part);
}

function ofPart(access: KeyAccess, filter: FilterName, part: string) {
  return { ...access, ...filter, name: filter.name + part };
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
