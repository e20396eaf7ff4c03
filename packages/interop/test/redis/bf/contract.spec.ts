import { afterAll, beforeAll } from '@jest/globals';
import { bfFixture, describeBf } from '../../../../../test/support/bf-server.js';
import type { RedisFixture } from '../../../../../test/support/redis-fixture.js';
import { describeStoreContract } from '../../../../../test/store/contract/store-contract.js';
import { redisBloom } from '../../../src/index.js';

const SETTINGS = [
  ['that scales', {}],
  ['that does not scale', { nonScaling: true }],
] as const;

describeBf('The contract of a store', () => {
  let redis: RedisFixture;
  beforeAll(async () => {
    redis = await bfFixture();
  });
  afterAll(() => redis.close());

  for (const [name, settings] of SETTINGS) {
    describeStoreContract(
      `RedisStore, a filter of BF.* commands ${name}`,
      async () => (await redis.open(redis.name(), {}, { layout: redisBloom(settings) })).filter,
      {
        keepsMaxIdBytes: false,
        shapeOf: ({ capacity, errorRate }) => ({
          hashCount: redisBloom.plan({ ...settings, capacity, errorRate }).hashCount,
        }),
      },
    );
  }
});
