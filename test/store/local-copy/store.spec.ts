import { afterAll, beforeAll } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import type { StoredFilter } from '../../../src/store/index.js';
import { LocalCopyStore } from '../../../src/store/local-copy/index.js';
import { RedisFixture } from '../../support/redis-fixture.js';
import { describeStoreContract } from '../contract/store-contract.js';
import { openOptions } from '../../support/open-options.js';

let redis: RedisFixture;
beforeAll(async () => {
  redis = await RedisFixture.start();
});
afterAll(() => redis.close());

async function open(): Promise<StoredFilter> {
  const name = redis.name();
  const { store } = await redis.open(name);
  return new LocalCopyStore(store).open(openOptions({ name }));
}

/** Most copies are whole when the next call comes. */
async function openUnhurried(): Promise<StoredFilter> {
  const filter = await open();
  const check = filter.check.bind(filter);
  filter.check = async (ids) => {
    const verdicts = await check(ids);
    await delay(5);
    return verdicts;
  };
  return filter;
}

describeStoreContract('LocalCopyStore', open);
describeStoreContract('LocalCopyStore, its copy loaded', openUnhurried);
