import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { describeOwnBf, ownBfFixture } from '../../../../../test/support/bf-server.js';
import { build, commitIds, idsOf, leaseOf, testPlan } from '../../../../../test/support/built-filter.js';
import { expectFound, expectNeverAbsent } from '../../../../../test/support/never-absent.js';
import type { Instance, RedisFixture } from '../../../../../test/support/redis-fixture.js';
import { builtPair, connected, restartFromOlderSnapshot } from '../../../../../test/support/restarts.js';
import { redisBloom } from '../../../src/index.js';

const layout = redisBloom();
const BUILT = idsOf('built', 200);

describeOwnBf('A filter of BF.* commands whose server', () => {
  let redis: RedisFixture;
  beforeEach(async () => {
    redis = await ownBfFixture();
  });
  afterEach(() => redis.close());

  function pair(options: { trustAfterFailover?: boolean } = {}): Promise<[Instance, Instance]> {
    return builtPair(() => redis.open('products', options, { layout }), BUILT);
  }

  it('is killed and comes back empty: unknown, then rebuilt', async () => {
    const [one, two] = await pair();
    await redis.server.kill();
    expect(await one.filter.check(['built-1'])).toEqual(['unknown']);
    await expect(two.filter.add(['late'])).rejects.toThrow();
    await redis.server.restart();
    await connected([one.filter, two.filter]);
    await expectNeverAbsent([one.filter, two.filter], BUILT);
    await two.filter.add(['later']);
    await expectNeverAbsent([one.filter, two.filter], [...BUILT, 'later']);
    expect(await one.filter.describe()).toMatchObject({ state: 'lost' });
    await build(two.filter, BUILT);
    await expectFound([one.filter, two.filter], BUILT);
  });

  it('is flushed: unknown, and no add makes it again', async () => {
    const [one, two] = await pair();
    const admin = redis.client();
    await admin.flushall();
    await expectNeverAbsent([one.filter, two.filter], BUILT);
    await one.filter.add(['late']);
    expect((await admin.keys('*')).filter((key) => !key.endsWith(':meta'))).toEqual([]);
    await expectNeverAbsent([one.filter, two.filter], [...BUILT, 'late']);
    await build(two.filter, BUILT);
    await expectFound([one.filter, two.filter], BUILT);
  });

  it('comes back from an older snapshot: suspect, since it lost acknowledged adds', async () => {
    const [one, two] = await pair();
    await restartFromOlderSnapshot(redis, one, ['lost', 'lost too']);
    await connected([two.filter]);
    await expectNeverAbsent([two.filter, one.filter], ['lost', 'lost too', ...BUILT]);
    await connected([one.filter]);
    for (const { filter } of [one, two]) expect(await filter.describe()).toMatchObject({ state: 'suspect' });
    const newcomer = await redis.open('products', {}, { layout });
    expect(await newcomer.filter.check(['lost'])).toEqual(['unknown']);
    await two.filter.add(['late']);
    await expectNeverAbsent([one.filter, two.filter], ['lost', 'late']);
    await build(two.filter, [...BUILT, 'lost', 'late']);
    await expectFound([one.filter, two.filter, newcomer.filter], [...BUILT, 'lost', 'late']);
  });

  it('comes back from a snapshot and is believed with trustAfterFailover', async () => {
    const [one, two] = await pair({ trustAfterFailover: true });
    await restartFromOlderSnapshot(redis, one, ['lost']);
    await connected([one.filter, two.filter]);
    await expectFound([one.filter, two.filter], BUILT);
    expect(await two.filter.check(['x', 'y'])).toEqual(['absent', 'absent']);
    expect(await two.filter.add(['more'])).toEqual([true]);
  });

  it.each([false, true])(
    'restarts in the middle of a rebuild: it is not swapped (trustAfterFailover %s)',
    async (trust) => {
      const [one, two] = await pair({ trustAfterFailover: trust });
      const lease = await leaseOf(one.filter);
      const staging = await lease.stage(testPlan());
      await restartFromOlderSnapshot(redis, two, ['lost']);
      await connected([one.filter, two.filter]);
      await expect(commitIds(staging, BUILT)).rejects.toThrow(
        /restarted or failed over|damaged|evicted|kept changing/,
      );
      if (!trust) await expectNeverAbsent([one.filter, two.filter], ['lost', ...BUILT]);
      await lease.release().catch(() => {});
    },
  );

  it('is paused: lookups are unknown within their deadline, and back when it is', async () => {
    const { filter } = await redis.open('products', { timeoutMs: 50 }, { layout });
    await build(filter, BUILT);
    await expectFound([filter], BUILT);
    await redis.server.kill('SIGSTOP');
    expect(await filter.check(['built-1', 'x'])).toEqual(['unknown', 'unknown']);
    await redis.server.kill('SIGCONT');
    await expectFound([filter], BUILT);
    expect(await filter.check(['x'])).toEqual(['absent']);
  });

  it('forgets the scripts: nobody notices', async () => {
    const [one] = await pair();
    await redis.client().script('FLUSH');
    expect(await one.filter.add(['a'])).toEqual([true]);
    expect(await one.filter.check(['a', 'x'])).toEqual(['maybe', 'absent']);
  });

  it('refuses commands to its user: advice names them', async () => {
    const admin = redis.client();
    await admin.call(
      'ACL',
      'SETUSER',
      'limited',
      'on',
      '>secret',
      '~*',
      '&*',
      '+@all',
      '-bf.insert',
      '-rpushx',
    );
    const { server } = redis;
    const { filter } = await redis.open(
      'limited',
      { redis: { host: server.host, port: server.port, username: 'limited', password: 'secret' } },
      { layout },
    );
    await filter.verify();
    const advice = await filter.advise({ bytes: 1000, hasSource: true, drainMs: 10_000 });
    expect(advice.join('\n')).toMatch(/BF\.INSERT on key .*ACL SETUSER/s);
    expect(advice.join('\n')).toMatch(/RPUSHX on key .*ACL SETUSER/s);
    expect(advice.join('\n')).not.toMatch(/BF\.MEXISTS/);
  });
});
