import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { BloomUnavailableError } from '../../../../src/common/index.js';
import { build } from '../../../support/built-filter.js';
import { expectFound } from '../../../support/never-absent.js';
import { openOptions } from '../../../support/open-options.js';
import { RedisFixture } from '../../../support/redis-fixture.js';
import type { RedisStoreOptions } from '../../../../src/store/redis/index.js';
import type { StoredFilter } from '../../../../src/store/index.js';

let redis: RedisFixture;
beforeAll(async () => {
  redis = await RedisFixture.start();
});
afterAll(() => redis.close());

/**
 * Processes that know the filter, which holds `known`, and one that comes when it is gone and makes it again,
 * empty.
 */
async function madeAgain(
  options: { hasSource?: boolean; idle?: number } & Partial<RedisStoreOptions> = {},
): Promise<{ newcomer: StoredFilter; old: StoredFilter[] }> {
  const { hasSource = false, idle = 0, ...others } = options;
  const name = redis.name();
  const open = async () => {
    const { store } = await redis.open(name, others);
    return store.open(openOptions({ name, hasSource }));
  };
  const old = await Promise.all(Array.from({ length: 1 + idle }, open));
  await build(old[0]!, ['known']);
  await expectFound(old, ['known']);
  await redis.client().flushall();
  const newcomer = await open();
  await build(newcomer, []);
  return { newcomer, old };
}

it('A filter without a source that was lost and recreated, empty, is taken offline by a process that knew it', async () => {
  const { newcomer, old } = await madeAgain();
  expect(await old[0]!.check(['known'])).toEqual(['unknown']);
  expect(await old[0]!.describe()).toMatchObject({ state: 'lost' });
  await newcomer.describe();
  expect(await newcomer.check(['known'])).toEqual(['unknown']);
});

it('and so it is when the first that happens is an add', async () => {
  const { newcomer, old } = await madeAgain();
  await expect(old[0]!.add(['added'])).rejects.toThrow(BloomUnavailableError);
  await newcomer.describe();
  expect(await newcomer.check(['known', 'added'])).toEqual(['unknown', 'unknown']);
});

it('Emptied by reset it is believed, also by a process that slept meanwhile', async () => {
  const { newcomer, old } = await madeAgain({ idle: 1 });
  const [awake, asleep] = old;
  await awake!.describe();
  await newcomer.describe();
  await build(newcomer, ['new']);
  for (const filter of [asleep!, awake!, newcomer]) {
    expect(await filter.describe()).toMatchObject({ state: 'ready' });
    expect(await filter.check(['new', 'known'])).toEqual(['maybe', 'absent']);
  }
});

it('With a source, or where the data of a failover are believed, it is believed at once', async () => {
  for (const options of [{ hasSource: true }, { trustAfterFailover: true }]) {
    const { old } = await madeAgain(options);
    expect(await old[0]!.describe()).toMatchObject({ state: 'ready', builds: 1 });
  }
});
