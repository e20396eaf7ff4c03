import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { OpenFilterOptions } from '../../../../src/store/index.js';
import { describeOwnBf, ownBfFixture } from '../../../support/bf-server.js';
import { build, idsOf, leaseOf, mergeIds, testPlan } from '../../../support/built-filter.js';
import { RedisFixture } from '../../../support/redis-fixture.js';
import { cuckoo, goZero, redisBloom } from '@nestjs-bloom/interop';
import { scaling } from '@nestjs-bloom/interop/scaling';

/**
 * When the reply of a swap is lost, and no inquiry is answered, the run fails and ends its staging, though it
 * went live.
 */
describe('A staging that is ended after its swap', () => {
  expectStays(() => RedisFixture.start(), {
    'a filter of one generation': {},
    'a filter that grows': { layout: scaling(), hasSource: false },
    'a filter on a key of go-zero': { layout: goZero({ key: 'shop', bits: 65536 }) },
  });
});

describeOwnBf('A staging on the server that is ended after its swap', () => {
  expectStays(() => ownBfFixture(), {
    'a filter of BF.*': { layout: redisBloom({ key: 'shop-bf' }) },
    'a filter of CF.*': { layout: cuckoo() },
  });
});

function expectStays(start: () => Promise<RedisFixture>, kinds: Record<string, Partial<OpenFilterOptions>>) {
  let redis: RedisFixture;
  beforeAll(async () => {
    redis = await start();
  });
  afterAll(() => redis.close());

  it.each(Object.entries(kinds))('leaves what went live, of %s', async (_, options) => {
    const name = redis.name();
    const ids = idsOf('new', 20);
    const { filter } = await redis.open(name, {}, options);
    const other = await redis.open(name, {}, options);
    await build(filter, ['old']);
    const lease = await leaseOf(filter);
    const staging = await lease.stage(testPlan());
    await mergeIds(staging, ids);
    await staging.commit(ids.length);
    await staging.abort();
    await lease.release();
    for (const each of [filter, other.filter]) {
      await each.describe();
      expect(await each.check([...ids, 'x'])).toEqual([...ids.map(() => 'maybe'), 'absent']);
    }
    expect(await filter.describe()).toMatchObject({ state: 'ready', rebuilding: false });
  });
}
