import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { BloomRebuildError } from '../../src/common/index.js';
import { build, leaseOf, testPlan } from '../support/built-filter.js';
import { RedisFixture } from '../support/redis-fixture.js';

let redis: RedisFixture;
let admin: Redis;
beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterAll(() => redis.close());

const layout = { kind: 'blocked', scaling: {} } as const;

it('A process that knew a filter without a source keeps one that did not from making it again, empty', async () => {
  const name = redis.name();
  const open = async () => (await redis.open(name, {}, { layout })).filter;
  const [knows, newcomer] = [await open(), await open()];
  await build(knows, []);
  await knows.add(['known']);
  await admin.del(`bloom:{${name}}:meta`);

  const lease = await leaseOf(newcomer);
  // From here on there are metadata again, which say that nothing was built.
  const staging = await lease.stage(testPlan());
  expect((await knows.describe()).state).toBe('lost');
  await expect(staging.commit(0)).rejects.toThrow(BloomRebuildError);
  await lease.release();

  expect((await newcomer.describe()).state).toBe('lost');
  expect(await knows.check(['known'])).toEqual(['unknown']);
  expect(await newcomer.check(['known'])).toEqual(['unknown']);
});
