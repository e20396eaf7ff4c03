import { afterAll, beforeAll } from '@jest/globals';
import { planFilter } from '../../../../src/filter/index.js';
import { bfFixture, describeBf } from '../../../support/bf-server.js';
import type { RedisFixture } from '../../../support/redis-fixture.js';
import { describeStoreContract } from '../../contract/store-contract.js';

const LAYOUTS = [
  ['that scales', { kind: 'redisbloom' }],
  ['that does not scale', { kind: 'redisbloom', nonScaling: true }],
] as const;

describeBf('The contract of a store', () => {
  let redis: RedisFixture;
  beforeAll(async () => {
    redis = await bfFixture();
  });
  afterAll(() => redis.close());

  for (const [name, layout] of LAYOUTS) {
    describeStoreContract(
      `RedisStore, a filter of BF.* commands ${name}`,
      async () => (await redis.open(redis.name(), {}, { layout })).filter,
      {
        keepsMaxIdBytes: false,
        shapeOf: (plan) => ({ hashCount: planFilter({ ...plan, layout }).hashCount }),
      },
    );
  }
});
