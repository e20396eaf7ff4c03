import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LookupCounts } from '../../../../../src/service/filter-counts.js';
import { DelayAlarm } from '../../../../../src/store/redis/blocked/copies/copy-waits.js';
import { build } from '../../../../support/built-filter.js';
import { openLeased } from '../../../../support/leased-reader.js';
import { RedisFixture } from '../../../../support/redis-fixture.js';

const LEASE_MS = 300;

let redis: RedisFixture;
beforeAll(async () => {
  redis = await RedisFixture.start();
});
afterAll(() => redis.close());

describe('Adds that wait until a lease ends', () => {
  it('are counted, and reported when they are long again and again', async () => {
    const name = redis.name();
    const recorder = new LookupCounts();
    const adder = await redis.open(name, {}, { recorder });
    await build(adder.filter, ['built']);
    await adder.filter.add(['before']);
    expect(recorder.snapshot().copyWaits).toEqual({ adds: 0, ms: 0 });
    const isReported = () => adder.events.some(({ type }) => type === 'adds-delayed');
    // A lease that ended before the add came delays nothing.
    for (let round = 1; !isReported(); round++) {
      const stopped = await openLeased(redis, name, { leaseMs: LEASE_MS });
      await stopped.join();
      await adder.filter.add([`add ${round}`]);
      await stopped.close();
    }
    const { adds, ms } = recorder.snapshot().copyWaits;
    expect(adds).toBeGreaterThanOrEqual(3);
    // How much of a lease is left when an add comes depends on how busy the machine is.
    expect(ms).toBeGreaterThan(0);
    const delayed = adder.events.filter(({ type }) => type === 'adds-delayed');
    expect(delayed).toEqual([{ type: 'adds-delayed', filter: name, times: 3, ms: expect.any(Number) }]);
  });
});

describe('DelayAlarm', () => {
  it('takes waits that ran at the same time for one', () => {
    const alarm = new DelayAlarm();
    for (let add = 0; add < 10; add++) expect(alarm.delayed(1000, 5000 + add)).toBeUndefined();
    expect(alarm.delayed(1000, 7000)).toBeUndefined();
    expect(alarm.delayed(1000, 9000)).toEqual({ times: 3, ms: 3000 });
  });

  it('reports once a minute, and nothing that is older', () => {
    const alarm = new DelayAlarm();
    const delay = (second: number) => alarm.delayed(1000, second * 1000);
    expect([2, 4, 6, 8].map(delay).map((report) => report?.times)).toEqual([
      undefined,
      undefined,
      3,
      undefined,
    ]);
    expect(delay(67)).toBeUndefined();
    expect([100, 102].map(delay).map((report) => report?.times)).toEqual([undefined, 3]);
  });
});
