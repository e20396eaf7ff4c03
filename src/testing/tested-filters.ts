import { BloomConfigError, printed } from '../common/index.js';
import { type BloomId, toIdKey } from '../filter/index.js';

/** Ids by the name of their filter: each filter holds exactly these. */
export type BloomTestIds = Readonly<Record<string, readonly BloomId[]>>;

/**
 * How the filters of a test behave. `pass-all`: every lookup is "maybe" and every add succeeds. `down`: every lookup is "unknown" and
 * every add rejects, as when Redis is away. `ids`: the filters that are named hold exactly their ids, and what is added.
 */
export type Behaviour =
  | { readonly kind: 'pass-all' }
  | { readonly kind: 'down' }
  | { readonly kind: 'ids'; readonly ids: BloomTestIds };

/** @throws {BloomConfigError} for what is no record of ids. */
export function checkIds(ids: BloomTestIds): void {
  if (typeof ids !== 'object' || ids === null || Array.isArray(ids)) {
    throw new BloomConfigError(
      `Expected the ids of a test by the name of their filter, such as { products: ['a', 'b'] }, got ${printed(ids)}.`,
    );
  }
  for (const [name, list] of Object.entries(ids)) {
    if (!Array.isArray(list)) {
      throw new BloomConfigError(
        `Expected the ids of filter '${name}' to be an array, got ${printed(list)}. An empty filter is [].`,
      );
    }
    for (const id of list) toIdKey(id);
  }
}
