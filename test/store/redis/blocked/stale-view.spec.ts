import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { build, commitIds, idsOf, leaseOf, testPlan } from '../../../support/built-filter.js';
import { expectFound, expectNeverAbsent } from '../../../support/never-absent.js';
import { type Instance, RedisFixture } from '../../../support/redis-fixture.js';

const BUILT = idsOf('built', 200);
const SMALL = { capacity: 1000 };
/** Three segments. */
const LARGE = { capacity: 700_000 };

let redis: RedisFixture;
let admin: Redis;
beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterAll(() => redis.close());

async function pair(plan: object): Promise<{ name: string; stale: Instance; other: Instance }> {
  const name = redis.name();
  const [stale, other] = [await redis.open(name), await redis.open(name)];
  await build(other.filter, BUILT, plan);
  await expectFound([stale.filter], BUILT);
  return { name, stale, other };
}

describe('A process whose view of the filter is old', () => {
  describe.each([
    ['of the same size', SMALL, SMALL],
    ['that is larger', SMALL, LARGE],
    ['that is smaller', LARGE, SMALL],
  ])('after a swap to a generation %s', (_, before, after) => {
    it('gives right verdicts, one by one and many at once', async () => {
      const { stale, other } = await pair(before);
      await build(other.filter, [...BUILT, 'new'], after);
      expect(await stale.filter.check(['built-7'])).toEqual(['maybe']);
      await build(other.filter, [...BUILT, 'newer'], before);
      expect(await stale.filter.check([...BUILT, 'newer', 'x'])).toEqual([
        ...BUILT.map(() => 'maybe'),
        'maybe',
        'absent',
      ]);
      expect(stale.events).toEqual([]);
    });

    it('adds to the generation that is live', async () => {
      const { stale, other } = await pair(before);
      await build(other.filter, BUILT, after);
      expect(await stale.filter.add(['late'])).toEqual([true]);
      await build(other.filter, [...BUILT, 'late'], before);
      expect(await stale.filter.add(idsOf('more', 600))).toContain(true);
      await expectFound([stale.filter, other.filter], [...BUILT, 'late', ...idsOf('more', 600)]);
    });

    it('adds to a generation whose staging it does not know of', async () => {
      const { stale, other } = await pair(before);
      const lease = await leaseOf(other.filter);
      const staging = await lease.stage(testPlan(after));
      await stale.filter.add(['late']);
      await stale.filter.add(idsOf('more', 300));
      await commitIds(staging, BUILT);
      await lease.release();
      await expectFound([other.filter, stale.filter], [...BUILT, 'late', ...idsOf('more', 300)]);
    });
  });

  it('adds to the live generation alone once the staging was withdrawn, and to the next staging again', async () => {
    const { stale, other } = await pair(SMALL);
    const lease = await leaseOf(other.filter);
    const first = await lease.stage(testPlan());
    await stale.filter.add(['first']);
    await first.abort();
    await stale.filter.add(['second']);
    const next = await lease.stage(testPlan(LARGE));
    await stale.filter.add(['third']);
    await expectFound([stale.filter, other.filter], ['first', 'second', 'third']);
    await commitIds(next, ['first', 'second']);
    await lease.release();
    await expectFound([stale.filter, other.filter], ['first', 'second', 'third']);
  });

  it('goes on answering rightly without metadata until another process adds', async () => {
    const { name, stale, other } = await pair(LARGE);
    await admin.del(`bloom:{${name}}:meta`);
    await expectNeverAbsent([stale.filter], BUILT);
    const adds = (async () => {
      for (let i = 0; i < 20; i++) await other.filter.add([`late-${i}`]);
    })();
    for (let round = 0; round < 10; round++) await expectNeverAbsent([stale.filter], BUILT);
    await adds;
    await expectNeverAbsent([stale.filter, other.filter], [...BUILT, ...idsOf('late', 20)]);
  });

  it('does not take a filter offline that was brought back while its add was on the way', async () => {
    const { name, stale, other } = await pair(SMALL);
    await admin.del(`bloom:{${name}}:0`);
    // Held until the add has been answered with "lost": then its next reading comes after the rebuild.
    const add = stale.filter.add(['late']);
    await Promise.all([add, build(other.filter, [...BUILT, 'late'])]);
    await expectNeverAbsent([stale.filter, other.filter], [...BUILT, 'late']);
  });

  it('does not answer from a filter that was taken offline and built again with other ids', async () => {
    const { name, stale, other } = await pair(SMALL);
    await admin.del(`bloom:{${name}}:meta`);
    await (await redis.open(name)).filter.add(['x']);
    await build(other.filter, ['only this']);
    expect(await stale.filter.check(['only this', 'built-1'])).toEqual(['maybe', 'absent']);
  });
});
