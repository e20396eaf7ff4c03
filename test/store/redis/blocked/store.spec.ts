import { afterAll, beforeAll } from '@jest/globals';
import { RedisFixture } from '../../../support/redis-fixture.js';
import { describeStoreContract } from '../../contract/store-contract.js';

let redis: RedisFixture;
beforeAll(async () => {
  redis = await RedisFixture.start();
});
afterAll(() => redis.close());

describeStoreContract('RedisStore', async () => (await redis.open(redis.name())).filter);
