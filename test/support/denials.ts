import type { Redis } from 'ioredis';
import type { IdKey } from '../../src/filter/index.js';
import type { StoredFilter, DenialAnswer, SharedNegativeCacheOptions } from '../../src/store/index.js';
import { eventually } from './eventually.js';
import { openOptions } from './open-options.js';
import type { Instance } from './redis-fixture.js';
import { denialsOf } from './abilities.js';

const BUCKET_BYTES = 108;
/** Where a bucket has times: when rows are visible, and when each of four denials ends. */
const TIMES = [4, 12, 36, 60, 84];
export const DENIALS: SharedNegativeCacheOptions = { lifeMs: 60_000, maxIds: 1_000 };

/** The same process with the denials of a filter. */
export function sharing(
  { store, events }: Instance,
  name: string,
  options: { denials?: Partial<SharedNegativeCacheOptions>; drainMs?: number } = {},
): StoredFilter {
  const emit = (event: (typeof events)[number]) => void events.push(event);
  const { drainMs = 10_000, denials } = options;
  return store.open(openOptions({ name, emit, drainMs, negativeCache: { ...DENIALS, ...denials } }));
}

export function ask(filter: StoredFilter, id: IdKey, scope = 'Products.find'): Promise<DenialAnswer> {
  return denialsOf(filter).ask({ id, scope, since: performance.now() });
}

/** Whatever the database says of the id, it is noted; resolves when the server has done it. */
export async function deny(filter: StoredFilter, id: IdKey, scope?: string): Promise<void> {
  (await ask(filter, id, scope)).note();
  // The next question goes out behind the note, on the same connection.
  await ask(filter, id, scope);
}

/** The filter has a table of the negative cache. */
export async function untilShared(filter: StoredFilter, admin: Redis, name: string): Promise<void> {
  await eventually('the table of the negative cache is there', async () => {
    await ask(filter, 'anything');
    return (await admin.exists(`bloom:{${name}}:denials`)) === 1;
  });
}

/** As if so many milliseconds had passed for all that the table holds. */
export async function age(admin: Redis, name: string, ms: number): Promise<void> {
  const key = `bloom:{${name}}:denials`;
  const table = (await admin.getBuffer(key))!;
  for (let at = 0; at < table.length; at += BUCKET_BYTES) {
    for (const offset of TIMES) table.writeDoubleLE(table.readDoubleLE(at + offset) - ms, at + offset);
  }
  await admin.set(key, table);
}
