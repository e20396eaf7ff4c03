import type { StoredFilter } from '../../src/store/index.js';
import { build } from './built-filter.js';
import { eventually } from './eventually.js';
import { expectFound } from './never-absent.js';
import type { Instance, RedisFixture } from './redis-fixture.js';

/** Two processes on one filter of these ids, and both know it. */
export async function builtPair(
  open: () => Promise<Instance>,
  ids: readonly string[],
): Promise<[Instance, Instance]> {
  const pair: [Instance, Instance] = [await open(), await open()];
  await build(pair[0].filter, ids);
  await expectFound(
    pair.map(({ filter }) => filter),
    ids,
  );
  return pair;
}

/** All processes are connected to the server that runs now. */
export async function connected(filters: readonly StoredFilter[]): Promise<void> {
  for (const filter of filters) {
    await eventually('the process is connected again', () =>
      filter.describe().then(
        () => true,
        () => false,
      ),
    );
  }
}

/** The server comes back with what it had before `lost` was added. */
export async function restartFromOlderSnapshot(
  redis: RedisFixture,
  adder: Instance,
  lost: readonly string[],
): Promise<void> {
  await redis.client().save();
  await adder.filter.add(lost);
  await redis.server.kill('SIGKILL');
  await redis.server.restart();
}
