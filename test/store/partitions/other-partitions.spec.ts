import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { BloomConfigError, type BloomEvent, BloomUnavailableError } from '../../../src/common/index.js';
import type { OpenFilterOptions, StoredFilter } from '../../../src/store/index.js';
import { PartitioningStore } from '../../../src/store/partitions/index.js';
import { partName } from '../../../src/store/redis/meta/redis-keys.js';
import { build, commitIds, idsOf, leaseOf, testPlan } from '../../support/built-filter.js';
import { expectFound } from '../../support/never-absent.js';
import { openOptions } from '../../support/open-options.js';
import { RedisFixture } from '../../support/redis-fixture.js';

const IDS = idsOf('built', 100);

let redis: RedisFixture;
let client: Redis;
let name = '';
beforeAll(async () => {
  redis = await RedisFixture.start();
  client = redis.client();
});
beforeEach(() => {
  name = redis.name();
});
afterAll(() => redis.close());

interface Opened {
  readonly filter: StoredFilter;
  readonly events: BloomEvent[];
}

async function open(partitions?: number, options: Partial<OpenFilterOptions> = {}): Promise<Opened> {
  const { store, events } = await redis.open(name);
  const emit = (event: BloomEvent) => void events.push(event);
  const filter = new PartitioningStore(store).open(openOptions({ name, emit, partitions, ...options }));
  return { filter, events };
}

const NUMBERS: [stored: number | undefined, told: number | undefined, sentences: RegExp][] = [
  [
    16,
    8,
    /expected a filter of 8 partitions .* found a filter of 16 partitions .* Set partitions to 16 here/,
  ],
  [4, 64, /expected a filter of 64 partitions .* found a filter of 4 partitions/],
  [16, undefined, /expected a filter without partitions .* found a filter of 16 partitions/],
  [
    undefined,
    16,
    /expected a filter of 16 partitions .* found a filter without partitions .* Leave partitions out here/,
  ],
];

describe.each(NUMBERS)(
  'A filter of %p partitions, for a process that was told %p',
  (stored, told, sentences) => {
    it('is refused at the start, and unknown otherwise: nothing is answered, added or built', async () => {
      const { filter: owner } = await open(stored);
      await build(owner, IDS);
      const { filter, events } = await open(told);
      await expect(filter.verify()).rejects.toThrow(BloomConfigError);
      await expect(filter.verify()).rejects.toThrow(sentences);
      expect(await filter.check(['nobody', ...IDS])).not.toContain('absent');
      const unknown = await filter.check(['nobody', ...IDS]);
      expect(new Set(unknown)).toEqual(new Set(['unknown']));
      expect(await filter.checkOne('nobody')).toBe('other-partitions');
      for (const id of idsOf('added', 20)) {
        await expect(filter.add([id])).rejects.toThrow(BloomUnavailableError);
      }
      const staged = leaseOf(filter, 1000).then((lease) => lease.stage(testPlan()));
      await expect(staged).rejects.toThrow(/partitions/);
      const found = { type: 'other-partitions', filter: name, partitions: told ?? 0, found: stored ?? 0 };
      expect(events).toContainEqual(expect.objectContaining(found));
      await expectFound([owner], IDS);
      expect(await owner.check(['nobody'])).toEqual(['absent']);
    });

    it('is used when the stored one has gone', async () => {
      const { filter: owner } = await open(stored);
      await build(owner, IDS);
      const { filter } = await open(told);
      expect(await filter.check(IDS)).not.toContain('absent');
      await client.flushall();
      await build(filter, IDS);
      await expectFound([filter], IDS);
    });
  },
);

describe('Two processes that begin with different numbers at once', () => {
  it.each([
    [4, 8],
    [8, 4],
  ])(
    'are %p and %p: the one that publishes the first part is right, and the other takes no adds',
    async (one, two) => {
      const [{ filter: first }, { filter: second }] = [await open(one), await open(two)];
      // Both have seen that there is nothing yet.
      for (const { check } of [first, second]) expect(await check.call(first, ['x'])).toEqual(['unknown']);
      expect(await second.check(idsOf('x', 50))).not.toContain('absent');
      const lease = await leaseOf(first);
      const staging = await lease.stage(testPlan());
      for (const id of idsOf('late', 40)) await expect(second.add([id])).rejects.toThrow(/partitions/);
      await expect(second.lease({ leaseMs: 1000 })).rejects.toThrow(/partitions/);
      await commitIds(staging, IDS);
      await lease.release();
      expect(await second.check([...IDS, 'nobody'])).not.toContain('absent');
      await expectFound([first], IDS);
    },
  );

  it('cannot both publish, whatever they knew before', async () => {
    const [{ filter: first }, { filter: second }] = [await open(4), await open(8)];
    const [one, two] = [await leaseOf(first), await second.lease({ leaseMs: 60_000 })];
    // The leases of the parts that both have are the same.
    expect(two).toBeUndefined();
    await one.release();
    const later = await leaseOf(second);
    await client.hset(`bloom:{${name}}:meta`, 'format', '30004', 'state', 'unbuilt');
    await expect(later.stage(testPlan())).rejects.toThrow();
    expect(await client.keys(`bloom:{${name}#*}:meta`)).toEqual([]);
    await later.release();
  });
});

describe('A part of a filter without a source', () => {
  const WITHOUT = { hasSource: false } as const;

  it('is not created again, empty, when it is lost and others have ids', async () => {
    const { filter: before } = await open(4, WITHOUT);
    await build(before, []);
    await before.add(idsOf('added', 100));
    for (const key of await client.keys(`bloom:{${partName(name, 2)}}:*`)) await client.del(key);
    const { filter } = await open(4, WITHOUT);
    const found = await filter.describe();
    expect(found.state).toBe('lost');
    expect(found.parts!.map((part) => 'state' in part && part.state)).toEqual([
      'ready',
      'ready',
      'lost',
      'ready',
    ]);
    expect(await filter.check(idsOf('added', 100))).not.toContain('absent');
    const lease = await filter.lease({
      leaseMs: 1000,
      unless: ({ state }) => (state === 'unbuilt' ? undefined : 'It is there.'),
    });
    expect(lease).toMatchObject({ declined: 'It is there.' });
  });

  it('is created when nobody has added anything yet', async () => {
    const { filter: before } = await open(4, WITHOUT);
    await build(before, []);
    for (const key of await client.keys(`bloom:{${partName(name, 2)}}:*`)) await client.del(key);
    const { filter } = await open(4, WITHOUT);
    expect(await filter.describe()).toMatchObject({ state: 'unbuilt' });
    const lease = await filter.lease({
      leaseMs: 1000,
      unless: ({ state }) => (state === 'unbuilt' ? undefined : 'It is there.'),
    });
    expect(lease!.parts).toEqual([2]);
    await lease!.release();
  });
});
