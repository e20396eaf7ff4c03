import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type BloomEvent, systemClock } from '../../src/common/index.js';
import { type BloomFilterOptions, defineFilter, ManagedFilter } from '../../src/service/index.js';
import type { FilterStore } from '../../src/store/index.js';
import { MemoryStore } from '../../src/store/memory/index.js';
import { idsOf } from '../support/built-filter.js';
import { RedisFixture } from '../support/redis-fixture.js';

let redis: RedisFixture;
beforeAll(async () => {
  redis = await RedisFixture.start();
});
afterAll(() => redis.close());

function open(
  store: FilterStore,
  options: Partial<BloomFilterOptions> = {},
  { ids = idsOf('id', 100) as unknown[], count }: { ids?: unknown[]; count?: () => unknown } = {},
) {
  const events: BloomEvent[] = [];
  const source = {
    async *ids() {
      yield ids as string[];
    },
    ...(count && { count: async () => count() as number }),
  };
  const definition = defineFilter({
    name: 'hints',
    capacity: 1000,
    errorRate: 0.001,
    source,
    ...options,
    rebuild: { drainMs: 0, ...options.rebuild },
  });
  const filter = new ManagedFilter(definition, { store, emit: (e) => events.push(e), clock: systemClock });
  return { filter, events, of: (type: string) => events.filter((event) => event.type === type) };
}

describe('A source whose count()', () => {
  it.each<[string, () => unknown]>([
    ['is NaN', () => NaN],
    ['is negative', () => -1],
    ['is a text', () => '100'],
    ['is infinite', () => Infinity],
    ['is 1e15', () => 1e15],
    [
      'throws',
      () => {
        throw new Error('no such table');
      },
    ],
  ])('%s is survived, with an event', async (_, count) => {
    const { filter, of } = open(new MemoryStore(), {}, { count });
    expect(await filter.rebuild()).toMatchObject({ outcome: 'published', ids: 100 });
    expect(of('count-ignored')).toHaveLength(1);
    expect((await filter.info()).bytes).toBeLessThan(4 << 20);
    await filter.close();
  });

  it('is right is planned for', async () => {
    const { filter, of } = open(new MemoryStore(), {}, { count: () => 5000.5 });
    expect(await filter.rebuild()).toMatchObject({ capacity: 5502 });
    expect(of('count-ignored')).toEqual([]);
    await filter.close();
  });
});

describe('A rebuild', () => {
  it('of more ids than fit into maxBytes fails, and says so', async () => {
    const { filter } = open(new MemoryStore(), { maxBytes: 4096 }, { ids: idsOf('id', 20_000) });
    await expect(filter.rebuild()).rejects.toMatchObject({ reason: 'too-many-ids' });
    await expect(filter.rebuild()).rejects.toThrow(/about \d+,\d+ ids.*more than maxBytes, 4,096/);
    await filter.close();
  });

  it('is refused a maxBytes below the plan', () => {
    expect(() => open(new MemoryStore(), { maxBytes: 100 })).toThrow(/expected maxBytes to be at least/);
  });

  const bad = ['ok', 'x'.repeat(2000), '', 'fine', null, 'new\nline'.repeat(500)];
  it('names an id that cannot be added, escaped, and the option', async () => {
    const { filter } = open(new MemoryStore(), {}, { ids: ['ok', 'a\nb'.repeat(1000)] });
    await expect(filter.rebuild()).rejects.toMatchObject({ reason: 'bad-id' });
    await expect(filter.rebuild()).rejects.toThrow(
      /The source returned 'a\\nba\\nb.{0,100}….*rebuild\.onBadId: 'skip'/,
    );
    await filter.close();
  });

  it("leaves such ids out with onBadId: 'skip', and reports how many", async () => {
    const { filter, of } = open(new MemoryStore(), { rebuild: { onBadId: 'skip' } }, { ids: bad });
    expect(await filter.rebuild()).toMatchObject({ outcome: 'published', ids: 2 });
    expect(of('ids-skipped')).toEqual([
      expect.objectContaining({ skipped: 4, example: expect.stringMatching(/^'x{90,}…$/) }),
    ]);
    expect(await filter.checkMany(['ok', 'fine', 'x'.repeat(2000)])).toEqual(['maybe', 'maybe', 'absent']);
    await filter.close();
  });
});

describe('Metadata that lie', () => {
  const meta = 'bloom:{hints}:meta';
  it.each<[string, Record<string, string>]>([
    ['ids that no filter holds', { ids: '999999999999999' }],
    ['many ids', { ids: '1000000000' }],
    ['ten times as many ids', { ids: '1000' }],
    ['no number of ids', { ids: 'many' }],
    ['a capacity', { capacity: '999999999999999' }],
    ['no capacity', { capacity: '-5' }],
    ['builds', { builds: 'x' }],
    ['too many builds', { builds: '9223372036854775807' }],
    ['a count', { count: 'x' }],
    ['too large a count', { count: '9223372036854775807' }],
    ['a time', { builtAt: 'x' }],
  ])('in %s take no filter offline and fail no rebuild', async (_, lie) => {
    await redis.client().flushall();
    const { store } = await redis.open('unused');
    const { filter, events } = open(store);
    await filter.rebuild();
    await redis.client().hset(meta, lie);
    expect((await filter.info()).state).toBe('ready');
    await filter.add('added');
    expect(await filter.checkMany(['id-1', 'added', 'x'])).toEqual(['maybe', 'maybe', 'absent']);
    const builtMeanwhile = await filter.rebuild();
    expect(builtMeanwhile).toMatchObject({ outcome: 'published', capacity: 1000 });
    expect(await filter.rebuild()).toMatchObject({ outcome: 'published', capacity: 1000 });
    expect(await filter.info()).toMatchObject({ state: 'ready', count: 100, capacity: 1000 });
    const states = events.flatMap((event) => (event.type === 'state-changed' ? [event.state] : []));
    expect(states).not.toContain('lost');
    expect(states).not.toContain('suspect');
    await filter.close();
  });
});
