import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { build, leaseOf, testPlan } from '../../../../../test/support/built-filter.js';
import { eventually } from '../../../../../test/support/eventually.js';
import { RedisFixture } from '../../../../../test/support/redis-fixture.js';
import { scaling } from '../../../src/scaling/index.js';

let redis: RedisFixture;
beforeAll(async () => {
  redis = await RedisFixture.start();
});
afterAll(() => redis.close());

const layout = scaling();
const target = { capacity: 1, errorRate: 0.01 };

describe('An add of several ids, for the last of which there is no room, when the filter is emptied meanwhile', () => {
  it.each([
    ['and is live again before the add goes on', true],
    ['and goes live after the add has ended', false],
  ])('has recorded all of them: it is emptied %s', async (_, isLiveBefore) => {
    const name = redis.name();
    const [adder, other] = [
      (await redis.open(name, {}, { layout })).filter,
      (await redis.open(name, {}, { layout })).filter,
    ];
    await build(adder, [], target);

    // Nobody can open a layer meanwhile.
    const lease = await leaseOf(other);
    const adding = adder.add(['first', 'second']);
    await eventually('the first id is recorded', async () => (await other.describe()).count === 1);
    const staging = await lease.stage(testPlan({ ...target, capacity: 100 }));
    if (!isLiveBefore) expect(await adding).toEqual([true, true]);
    await staging.commit(0);
    await lease.release();

    expect(await adding).toEqual([true, true]);
    expect(await other.check(['first', 'second'])).toEqual(['maybe', 'maybe']);
  });
});
