import { BloomConfigError } from '../common/index.js';
import { lowerCase, uuid } from './spellings.js';
import { notScoped, wrongScope } from './filter.messages.js';
import { type BloomId, type BloomScope, type IdKey, idKeyText, toIdKey } from './id.js';

/** An ObjectId has it; no type of an id does. */
interface ObjectId {
  toHexString?(): string;
}

/**
 * The id of a tenant's row, for a filter with `scoped: true`: `4:acme:7`, with the bytes of the scope. Scopes
 * that a database may take for one have the same: `Acme` and `acme `, `7` and `'007'`, spellings of a UUID.
 * No other two pairs have.
 *
 * @throws {BloomConfigError} for what cannot be a scope; by a `BloomIdError` a guard would answer "absent".
 * @throws {BloomIdError} for what cannot be an id.
 *
 * @example await orders.add(scopedId(tenant.id, order.number));
 */
export function scopedId(scope: BloomScope, id: BloomId): BloomId {
  const isScope = Number.isSafeInteger(scope) || typeof scope === 'bigint';
  if (!isScope && (typeof scope !== 'string' || scope === '')) throw new BloomConfigError(wrongScope(scope));
  const text = foldedScope(String(scope));
  const digits = (id as ObjectId | null)?.toHexString?.();
  return joined(`${Buffer.byteLength(text)}:${text}:`, toIdKey(digits ?? id));
}

/**
 * Puts ids into a scope. What cannot be an id stays as it is, for the filter to refuse.
 *
 * @throws {BloomConfigError} for what cannot be a scope.
 */
export function scopedBy(scope: BloomScope): (id: unknown) => unknown {
  scopedId(scope, 'id');
  return (id) => {
    try {
      return scopedId(scope, id as BloomId);
    } catch {
      return id;
    }
  };
}

/**
 * What a filter with `scoped: true` uses as `normalize`: the id alone is normalized, and never its scope.
 *
 * @throws {BloomConfigError} in the function, for an id without a scope.
 */
export function normalizeScoped(
  filter: string,
  normalize: ((id: BloomId) => BloomId) | undefined,
): (id: BloomId) => BloomId {
  return (id) => {
    const key = toIdKey(id);
    const at = placeOfId(key);
    if (at === 0) throw new BloomConfigError(notScoped(filter));
    return normalize ? joined(key.slice(0, at), toIdKey(normalize(key.slice(at)))) : key;
  };
}

/** Tenants that share a scope have ids of each other answered "maybe", and never "absent". */
function foldedScope(scope: string): string {
  const folded = String(lowerCase(uuid(scope))).replace(/^\+?0*(?=\d+$)/, '');
  return folded === '' ? scope : folded;
}

/** Where the id begins; 0 for what `scopedId` has not made. */
function placeOfId(key: IdKey): number {
  // A character for each byte: a colon is no part of another one in UTF-8.
  const text = idKeyText(key);
  const [head, bytes] = /^([1-9]\d{0,4}):/.exec(text) ?? ['', 0];
  const at = head.length + Number(bytes) + 1;
  if (head === '' || text[at - 1] !== ':' || at === text.length) return 0;
  return typeof key !== 'string' || key === text ? at : Buffer.from(key).subarray(0, at).toString().length;
}

function joined(head: IdKey, id: IdKey): IdKey {
  if (typeof id === 'string') return `${typeof head === 'string' ? head : Buffer.from(head).toString()}${id}`;
  return Buffer.concat([typeof head === 'string' ? Buffer.from(head) : head, id]);
}
