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
 * What a filter with `scoped: true` uses as `normalize`, which gets the id alone. The scope is that of
 * `scopedId`, also where a database or a peer has made the key.
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
    const head = textOf(key.slice(0, at));
    const own = key.slice(at);
    return scopedId(head.slice(head.indexOf(':') + 1, -1), normalize ? normalize(own) : own);
  };
}

/** Tenants that share a scope have ids of each other answered "maybe", and never "absent". */
function foldedScope(scope: string): string {
  const folded = String(lowerCase(uuid(scope))).replace(/^\+?0*(?=\d+$)/, '');
  return folded === '' ? scope : folded;
}

/** Where the id begins; 0 for what `scopedId` has not made. */
function placeOfId(key: IdKey): number {
  // One character for each byte. In UTF-8 no longer character contains the byte of a colon.
  const text = idKeyText(key);
  const [head, bytes] = /^([1-9]\d{0,4}):/.exec(text) ?? ['', 0];
  const at = head.length + Number(bytes) + 1;
  if (head === '' || text[at - 1] !== ':' || at === text.length) return 0;
  return typeof key !== 'string' || key === text ? at : textOf(Buffer.from(key).subarray(0, at)).length;
}

function joined(head: string, id: IdKey): IdKey {
  return typeof id === 'string' ? head + id : Buffer.concat([Buffer.from(head), id]);
}

function textOf(key: IdKey): string {
  return typeof key === 'string' ? key : Buffer.from(key).toString();
}
