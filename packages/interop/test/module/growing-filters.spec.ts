import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BloomConfigError } from 'nestjs-bloom/filter';
import type { BloomEvent, FilterStore } from 'nestjs-bloom/store';
import { systemClock } from '../../../../src/common/index.js';
import type { BloomFilterOptions } from 'nestjs-bloom';
import { defineFilter, ManagedFilter } from '../../../../src/service/index.js';
import { MemoryStore } from '../../../../src/store/memory/index.js';
import { RedisStore } from 'nestjs-bloom/internal';
import { idsOf } from '../../../../test/support/built-filter.js';
import { eventually } from '../../../../test/support/eventually.js';
import { PATIENT } from '../../../../test/support/patience.js';
import { RedisFixture } from '../../../../test/support/redis-fixture.js';
import { cuckoo } from '../../src/index.js';
import { scaling } from '../../src/scaling/index.js';
import { withMaxCapacity } from '../../src/scaling/scaling.js';

let redis: RedisFixture;
beforeAll(async () => {
  redis = await RedisFixture.start();
});
afterAll(() => redis.close());

const STORES: [string, () => Promise<FilterStore>][] = [
  ['this process', async () => new MemoryStore()],
  [
    'Redis',
    () =>
      RedisStore.connect({
        redis: redis.server.url,
        keyPrefix: `bloom-${redis.name()}`,
        trustAfterFailover: false,
        ...PATIENT,
        emit: () => {},
      }),
  ],
];

function managed(
  store: FilterStore,
  options: Partial<BloomFilterOptions>,
  events: BloomEvent[] = [],
): ManagedFilter {
  const definition = defineFilter({
    name: 'seen',
    capacity: 200,
    errorRate: 0.01,
    create: 'first-start',
    ...options,
  });
  return new ManagedFilter(definition, { store, emit: (event) => events.push(event), clock: systemClock });
}

describe.each(STORES)('A filter with scaling in %s', (_, openStore) => {
  it('is there with its first add, grows, and is emptied by reset', async () => {
    const store = await openStore();
    const filter = managed(store, { layout: scaling() });
    expect(await filter.check('a')).toBe('unknown');
    expect(await filter.add('a')).toBe(true);
    await filter.addMany(idsOf('id', 1500));
    expect(new Set(await filter.checkMany(['a', ...idsOf('id', 1500)]))).toEqual(new Set(['maybe']));
    const info = await filter.info();
    expect(info).toMatchObject({ state: 'ready', layout: 'scaling' });
    expect(info.capacity).toBeGreaterThan(1400);
    expect(info.modelledErrorRate).toBeLessThan(0.01);
    expect(info.fillRatio).toBeGreaterThan(0.1);
    expect(info.fillRatio).toBeLessThan(0.6);
    await filter.reset();
    expect(await filter.check('a')).toBe('absent');
    expect(await filter.info()).toMatchObject({ count: 0, capacity: 200, builds: 2 });
    await expect(filter.rebuild()).rejects.toThrow(BloomConfigError);
    await expect(filter.remove('a')).rejects.toThrow(/layout cuckoo, got scaling/);
    await filter.close();
    await store.close();
  });

  it('opens no layer beyond its limit: what comes then is in it all the same, and reported', async () => {
    const store = await openStore();
    const events: BloomEvent[] = [];
    const filter = managed(store, { name: 'limited', layout: scaling({ maxCapacity: 1000 }) }, events);
    const overfull = () => events.filter(({ type }) => type === 'overfull');
    await filter.addMany(idsOf('id', 990));
    const before = await filter.info();
    expect(before.modelledErrorRate).toBeLessThan(0.01);
    expect(overfull()).toEqual([]);
    await filter.addMany(idsOf('id', 5000));
    expect(new Set(await filter.checkMany(idsOf('id', 5000)))).toEqual(new Set(['maybe']));
    const info = await filter.info();
    expect(info.capacity).toBe(1000);
    expect(info.bytes).toBe(before.bytes);
    expect(info.modelledErrorRate).toBeGreaterThan(0.1);
    await eventually('overfull', () => overfull().length > 0);
    expect(overfull()[0]).toMatchObject({ filter: 'limited', capacity: 1000 });
    await filter.reset();
    expect(await filter.info()).toMatchObject({ count: 0, capacity: 200 });
    await filter.close();
    await store.close();
  });
});

describe('A cuckoo filter', () => {
  it('removes an id in this process', async () => {
    const source = {
      ids: async function* () {
        yield ['a', 'b'];
      },
    };
    const filter = managed(new MemoryStore(), {
      layout: cuckoo(),
      source,
      rebuild: { drainMs: 0 },
    });
    await filter.rebuild();
    expect(await filter.remove('a')).toBe(true);
    expect(await filter.checkMany(['a', 'b'])).toEqual(['absent', 'maybe']);
    expect(await filter.remove('certainly not there')).toBe(false);
    await filter.close();
  });
});

describe('A filter with scaling', () => {
  const source = { async *ids() {} };

  it.each([
    [200, 100_000_000],
    [50_000_000, 500_000_000],
  ])('has, for a capacity of %d, a limit of %d', (capacity, maxCapacity) => {
    expect(withMaxCapacity({}, capacity)).toEqual({ maxCapacity });
    expect(withMaxCapacity({ maxCapacity: 7 }, capacity)).toEqual({ maxCapacity: 7 });
  });

  it.each<[string, Partial<BloomFilterOptions>, RegExp]>([
    ['a source', { layout: scaling(), source }, /expected source to be no source/],
    [
      'a limit below its capacity',
      { layout: scaling({ maxCapacity: 199 }) },
      /Expected maxCapacity to be at least capacity, 200, got 199/,
    ],
    ['a capacity that is none', { capacity: NaN, layout: scaling() }, /Expected capacity to be an integer/],
    ['what a cuckoo filter cannot', { layout: cuckoo(), errorRate: 1e-6, capacity: 1e9 }, /needs more than/],
  ])('is refused with %s', (_, options, message) => {
    expect(() => managed(new MemoryStore(), options)).toThrow(message);
    expect(() => managed(new MemoryStore(), options)).toThrow(BloomConfigError);
  });

  it.each<[string, () => unknown, RegExp]>([
    ['an expansion of 0', () => scaling({ expansion: 0 }), /expansion/],
    [
      'a limit that is no number',
      () => scaling({ maxCapacity: '1e6' as unknown as number }),
      /Expected maxCapacity to be an integer from 1/,
    ],
    ['a tightening of 1', () => scaling({ tightening: 1 }), /tightening/],
    ['something else', () => scaling(true as never), /scaling\(\): expected an object with the options/],
    ['an unknown option', () => scaling({ expanding: 2 } as never), /expected no option 'expanding'/],
    ['a bucket size of 999', () => cuckoo({ bucketSize: 999 }), /bucketSize/],
  ])('is refused where it is made with %s', (_, make, message) => {
    expect(make).toThrow(message);
    expect(make).toThrow(BloomConfigError);
  });
});
