import { BloomConfigError } from '../common/index.js';
import { type BloomId, toIdKey } from '../filter/index.js';
import { notIdsByFilter, notIdsOfFilter } from './testing.messages.js';

/** Ids by the name of their filter: each filter holds exactly these. */
export type BloomTestIds = Readonly<Record<string, readonly BloomId[]>>;

/**
 * How the filters of a test behave. `pass-all`: every lookup is "maybe" and every add succeeds. `down`: every
 * lookup is "unknown" and every add rejects, as when Redis is away. `ids`: the filters that are named hold
 * exactly their ids, and what is added.
 */
export type Behaviour =
  | { readonly kind: 'pass-all' }
  | { readonly kind: 'down' }
  | { readonly kind: 'ids'; readonly ids: BloomTestIds };

/** @throws {BloomConfigError} for what is no record of ids. */
export function checkIds(ids: BloomTestIds): void {
  if (typeof ids !== 'object' || ids === null || Array.isArray(ids)) {
    throw new BloomConfigError(notIdsByFilter(ids));
  }
  for (const [name, list] of Object.entries(ids)) {
    if (!Array.isArray(list)) {
      throw new BloomConfigError(notIdsOfFilter(name, list));
    }
    for (const id of list) toIdKey(id);
  }
}
