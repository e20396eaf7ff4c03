import { afterAll, beforeAll } from '@jest/globals';
import { RedisFixture } from '../support/redis-fixture.js';
import { describeRebuild } from './contract.js';

let redis: RedisFixture;
beforeAll(async () => {
  redis = await RedisFixture.start();
});
afterAll(() => redis.close());

describeRebuild('RedisStore', async () => (await redis.open(redis.name())).filter);
