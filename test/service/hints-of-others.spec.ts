import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type BloomEvent, systemClock } from '../../src/common/index.js';
import { type BloomFilterOptions, defineFilter, ManagedFilter } from '../../src/service/index.js';
import { idsOf } from '../support/built-filter.js';
import { RedisFixture } from '../support/redis-fixture.js';
import { goZero } from '@nestjs-bloom/interop';
import { scaling } from '@nestjs-bloom/interop/scaling';

const isGrowing = ({ layout }: Partial<BloomFilterOptions>) =>
  typeof layout === 'object' && layout.kind === 'scaling';

let redis: RedisFixture;
beforeAll(async () => {
  redis = await RedisFixture.start();
});
beforeEach(async () => {
  await redis.client().flushall();
});
afterAll(() => redis.close());

/** The key of the only metadata that there are. */
async function metaKey(): Promise<string> {
  const found = await redis.client().keys('*meta*');
  expect(found).toHaveLength(1);
  return found[0]!;
}

async function open(options: Partial<BloomFilterOptions>) {
  const { store, events } = await redis.open('unused');
  const source = {
    async *ids() {
      yield idsOf('id', 100);
    },
  };
  const definition = defineFilter({
    name: 'hints',
    capacity: 1000,
    errorRate: 0.001,
    ...(isGrowing(options) ? {} : { source }),
    ...options,
    ...(isGrowing(options) ? {} : { rebuild: { drainMs: 0 } }),
  });
  const emit = (event: BloomEvent) => void events.push(event);
  const filter = new ManagedFilter(definition, { store, emit, clock: systemClock });
  /** One that grows has no source: what it holds is added again. */
  const build = async () => {
    if (!isGrowing(options)) return expect(await filter.rebuild()).toMatchObject({ outcome: 'published' });
    await filter.reset();
    await filter.addMany(idsOf('id', 100));
  };
  return { filter, events, build };
}

const KINDS: [string, Partial<BloomFilterOptions>][] = [
  ['that grows', { layout: scaling() }],
  ['of go-zero', { layout: goZero({ key: 'hints-bits', bits: 100_000 }) } as Partial<BloomFilterOptions>],
];
const LIES: [string, Record<string, string>][] = [
  ['ids that no filter holds', { ids: '999999999999999' }],
  ['many ids', { ids: '1000000000' }],
  ['no number of ids', { ids: 'many' }],
  ['a capacity', { capacity: '999999999999999' }],
  ['no capacity', { capacity: '-5' }],
  ['builds', { builds: 'x' }],
  ['too many builds', { builds: '9223372036854775807' }],
  ['a time', { builtAt: 'x' }],
];

describe.each(KINDS)('Metadata that lie of a filter %s', (_, options) => {
  it.each(LIES)('in %s take no filter offline and fail no rebuild', async (__, lie) => {
    const { filter, events, build } = await open(options);
    await build();
    const { capacity, bytes } = await filter.info();
    await redis.client().hset(await metaKey(), lie);
    expect(await filter.info()).toMatchObject({ state: 'ready', capacity });
    await filter.add('added');
    expect(await filter.checkMany(['id-1', 'added', 'nobody'])).toEqual(['maybe', 'maybe', 'absent']);
    await build();
    await build();
    expect(await filter.info()).toMatchObject({ state: 'ready', capacity, bytes });
    const states = events.flatMap((event) => (event.type === 'state-changed' ? [event.state] : []));
    expect(states.filter((state) => state !== 'ready')).toEqual([]);
    // Nothing is planned by a number of builds. The capacity of one that grows is in its settings.
    const isOfPlan = !('builds' in lie) && !(isGrowing(options) && lie['capacity'] === '9'.repeat(15));
    const advice = events.filter(
      (event) => event.type === 'advice' && event.text.startsWith('BLOOM_COUNTS_CHANGED'),
    );
    expect(advice.length).toBeGreaterThanOrEqual(isOfPlan ? 1 : 0);
    expect(advice.length).toBeLessThanOrEqual(1);
    await filter.close();
  });

  it('without a sum, as an older version writes them, are believed', async () => {
    const { filter, events, build } = await open(options);
    await build();
    expect(await redis.client().hdel(await metaKey(), 'countsSum')).toBe(1);
    expect((await filter.info()).state).toBe('ready');
    expect(events.filter(({ type }) => type === 'advice')).toEqual([]);
    await filter.close();
  });
});

it('A filter that has grown keeps the sum of its counts', async () => {
  const { filter, events, build } = await open({ layout: scaling() });
  await build();
  await filter.addMany(idsOf('more', 3000));
  expect((await filter.info()).capacity).toBeGreaterThan(1000);
  expect(events.filter(({ type }) => type === 'advice')).toEqual([]);
  await redis.client().hset(await metaKey(), { ids: '1000000000' });
  await filter.info();
  expect(events.filter(({ type }) => type === 'advice')).toHaveLength(1);
  await filter.close();
});
