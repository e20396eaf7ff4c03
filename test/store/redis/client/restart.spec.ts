import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { build, commitIds, idsOf, leaseOf, testPlan } from '../../../support/built-filter.js';
import { eventually } from '../../../support/eventually.js';
import { expectFound, expectNeverAbsent } from '../../../support/never-absent.js';
import { type Instance, RedisFixture } from '../../../support/redis-fixture.js';
import { builtPair, connected, restartFromOlderSnapshot } from '../../../support/restarts.js';

const BUILT = idsOf('built', 200);

let redis: RedisFixture;
beforeEach(async () => {
  redis = await RedisFixture.start();
});
afterEach(() => redis.close());

function pair(options: { trustAfterFailover?: boolean } = {}): Promise<[Instance, Instance]> {
  return builtPair(() => redis.open('products', options), BUILT);
}

describe('When the server is killed', () => {
  it('lookups are unknown and adds reject until it is back, then it is known that the filter is lost', async () => {
    const [one, two] = await pair();
    await redis.server.kill();
    expect(await one.filter.check(['built-1'])).toEqual(['unknown']);
    expect(await two.filter.check(BUILT)).toEqual(BUILT.map(() => 'unknown'));
    await expect(one.filter.add(['late'])).rejects.toThrow();
    await redis.server.restart();
    await connected([one.filter, two.filter]);
    await expectNeverAbsent([one.filter, two.filter], BUILT);
    await two.filter.add(['later']);
    await expectNeverAbsent([one.filter, two.filter], [...BUILT, 'later']);
    expect(await two.filter.describe()).toMatchObject({ state: 'lost' });
    await build(two.filter, BUILT);
    await expectFound([one.filter, two.filter], BUILT);
  });

  it('and restarted between two lookups, none is "absent"', async () => {
    const [one, two] = await pair();
    let stop = false;
    const asking = [one, two].map(async ({ filter }) => {
      while (!stop) await expectNeverAbsent([filter], BUILT.slice(0, 5));
    });
    await restartFromOlderSnapshot(redis, one, ['lost']);
    await connected([one.filter, two.filter]);
    await expectNeverAbsent([one.filter, two.filter], ['lost']);
    stop = true;
    await Promise.all(asking);
  });
});

describe('When the server comes back from an older snapshot', () => {
  it('an id that it lost is unknown, the filter suspect', async () => {
    const [one, two] = await pair();
    await restartFromOlderSnapshot(redis, one, ['lost', 'lost too']);
    await connected([two.filter]);
    await expectNeverAbsent([two.filter, one.filter], ['lost', 'lost too', ...BUILT]);
    expect(await one.filter.check(['lost'])).toEqual(['unknown']);
    await connected([one.filter]);
    expect(await one.filter.check(['lost'])).toEqual(['unknown']);
    for (const { filter } of [one, two])
      expect(await filter.describe()).toMatchObject({ state: 'suspect', builtIds: BUILT.length });
    const told = [one, two].flatMap(({ events }) => events.filter(({ type }) => type === 'state-changed'));
    expect(told).toContainEqual(expect.objectContaining({ state: 'suspect' }));
  });

  it('a process that knows nothing of the time before does not believe it either', async () => {
    const [one, two] = await pair();
    await restartFromOlderSnapshot(redis, one, ['lost']);
    await one.close();
    await two.close();
    const newcomer = await redis.open('products');
    expect(await newcomer.filter.check(['lost'])).toEqual(['unknown']);
    expect(await newcomer.filter.describe()).toMatchObject({ state: 'suspect' });
  });

  it('an add makes nothing of it, and a rebuild makes it whole', async () => {
    const [one, two] = await pair();
    await restartFromOlderSnapshot(redis, one, ['lost']);
    await connected([one.filter, two.filter]);
    await two.filter.add(['late']);
    await expectNeverAbsent([one.filter, two.filter], ['lost', 'late']);
    await build(two.filter, [...BUILT, 'lost', 'late']);
    await expectFound([one.filter, two.filter], [...BUILT, 'lost', 'late']);
  });

  it('with trustAfterFailover, its answers are believed', async () => {
    const [one, two] = await pair({ trustAfterFailover: true });
    await restartFromOlderSnapshot(redis, one, ['lost']);
    await connected([one.filter, two.filter]);
    await expectFound([one.filter, two.filter], BUILT);
    expect(await two.filter.check(['x', 'y'])).toEqual(['absent', 'absent']);
    expect(await two.filter.add(['more'])).toEqual([true]);
    expect(await one.filter.describe()).toMatchObject({ state: 'ready' });
  });

  it('a staging of the time before never goes live', async () => {
    const [one, two] = await pair();
    const lease = await leaseOf(one.filter);
    const staging = await lease.stage(testPlan());
    await restartFromOlderSnapshot(redis, two, ['lost']);
    await connected([one.filter, two.filter]);
    await expect(commitIds(staging, BUILT)).rejects.toThrow();
    await expectNeverAbsent([one.filter, two.filter], ['lost', ...BUILT]);
    await lease.release().catch(() => {});
  });

  it('also with trustAfterFailover, a staging of the time before never goes live', async () => {
    const [one, two] = await pair({ trustAfterFailover: true });
    const lease = await leaseOf(one.filter);
    const staging = await lease.stage(testPlan());
    await restartFromOlderSnapshot(redis, two, ['lost']);
    await connected([one.filter, two.filter]);
    await expect(commitIds(staging, BUILT)).rejects.toThrow(/restarted or failed over/);
    await lease.release();
  });
});

describe('When the server comes back with everything', () => {
  it('it is suspect all the same, since nobody can know', async () => {
    const server = ['--appendonly', 'yes', '--appendfsync', 'always'];
    const whole = await RedisFixture.start(server);
    try {
      const { filter } = await whole.open('products');
      await build(filter, BUILT);
      await whole.server.restart();
      await eventually('the filter is suspect', async () =>
        filter.describe().then(
          ({ state }) => state === 'suspect',
          () => false,
        ),
      );
      expect(await filter.check(['built-1'])).toEqual(['unknown']);
    } finally {
      await whole.close();
    }
  });
});
