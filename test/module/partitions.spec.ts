import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  BloomConfigError,
  type BloomEvent,
  BloomModule,
  type BloomModuleOptions,
  BloomService,
} from 'nestjs-bloom';
import { goZero } from '@nestjs-bloom/interop';
import { partName } from '../../src/store/redis/meta/redis-keys.js';
import { RedisFixture } from '../support/redis-fixture.js';
import { eventually } from '../support/eventually.js';
import { given } from '../support/given.js';
import { startContext } from '../support/nest-app.js';
import { PATIENT } from '../support/patience.js';

const IDS = Array.from({ length: 500 }, (_, i) => `id-${i}`);
const source = {
  async *ids() {
    yield IDS;
  },
};
type Filter = NonNullable<BloomModuleOptions['filters']>[number];

let redis: RedisFixture;
beforeAll(async () => {
  redis = await RedisFixture.start();
});
afterAll(() => redis.close());

async function start(filter: Partial<Filter>, isInRedis = true) {
  const events: BloomEvent[] = [];
  const products = given({ name: 'products', capacity: 1000, errorRate: 1e-6, source, ...filter }) as Filter;
  const module = await startContext({
    imports: [
      BloomModule.forRoot({
        ...(isInRedis && { redis: redis.server.url }),
        ...PATIENT,
        onEvent: (event) => events.push(event),
        filters: [{ rebuild: { drainMs: 200 }, ...products }],
      }),
    ],
  });
  const bloom = module.get(BloomService);
  return { bloom, events, filter: bloom.filter('products'), close: () => module.close() };
}

describe('The option partitions', () => {
  it.each([0, 1, 1.5, -2, 1025, 5000, Number.NaN, '16', null])('is refused as %p', async (partitions) => {
    const started = start({ partitions: partitions as number }, false);
    await expect(started).rejects.toThrow(BloomConfigError);
    await expect(started).rejects.toThrow(/expected partitions to be an integer from 2 to 1024, .* got/);
  });

  it('stands for 16 as true', async () => {
    const { filter, close } = await start({ partitions: true }, false);
    expect((await filter.info()).parts).toHaveLength(16);
    await close();
  });

  it('is refused with another layout', async () => {
    const layout = goZero({ key: 'k', bits: 1000 });
    await expect(start({ partitions: 4, layout }, false)).rejects.toThrow(/left out with the layout go-zero/);
  });

  it.each([true, false])('divides a filter, in Redis (%p) or in memory', async (isInRedis) => {
    const { bloom, filter, events, close } = await start({ name: 'products', partitions: 4 }, isInRedis);
    await bloom.whenReady({ timeoutMs: 60_000 });
    expect(new Set(await filter.checkMany(IDS))).toEqual(new Set(['maybe']));
    expect(await filter.check('nobody')).toBe('absent');
    expect(await filter.addMany(['new', 'id-1', 'newer'])).toEqual([true, false, true]);
    const info = await filter.info();
    expect(info).toMatchObject({ state: 'ready', layout: 'blocked', count: 502, builds: 1 });
    expect(info.parts!.map(({ part, state }) => [part, state])).toEqual(
      [0, 1, 2, 3].map((part) => [part, 'ready']),
    );
    expect(info.parts!.reduce((sum, { count }) => sum + count, 0)).toBe(502);
    expect(info.bytes).toBe(info.parts!.reduce((sum, { bytes }) => sum + bytes, 0));
    expect(events.filter(({ type }) => type === 'rebuild-finished')).toHaveLength(1);
    await close();
  });

  it('rebuilds the part alone that was lost, and names it in the events', async () => {
    const { bloom, filter, events, close } = await start({ partitions: 4 });
    await bloom.whenReady({ timeoutMs: 60_000 });
    const before = await filter.info();
    await redis.client().del(`bloom:{${partName('products', 2)}}:0`);
    await eventually('the part is built again', async () => {
      expect(await filter.checkMany(IDS)).not.toContain('absent');
      // A local copy answers for ids that exist: the loss shows with those that do not.
      await filter.checkMany(IDS.map((id) => `no-${id}`));
      return (await filter.info()).parts![2]!.builds === before.parts![2]!.builds + 1;
    });
    const after = await filter.info();
    for (const part of [0, 1, 3]) expect(after.parts![part]!.builds).toBe(before.parts![part]!.builds);
    expect(events).toContainEqual(expect.objectContaining({ type: 'state-changed', state: 'lost', part: 2 }));
    await close();
  });

  it('is refused at the start when the stored filter has another number of parts', async () => {
    const started = start({ partitions: 8 });
    await expect(started).rejects.toThrow(BloomConfigError);
    await expect(started).rejects.toThrow(
      /a filter of 8 partitions .* a filter of 4 partitions .* Set partitions to 4 here/,
    );
    await expect(start({})).rejects.toThrow(/Set partitions to 4 here/);
  });

  it('is advised against on one server', async () => {
    const { events, close } = await start({ partitions: 4 });
    await eventually('the advice', () =>
      events.some((event) => event.type === 'advice' && event.text.includes('all of them are on one server')),
    );
    await close();
  });

  it('creates, fills and empties a filter without a source', async () => {
    const { filter, close } = await start(
      { name: 'products', source: undefined, create: 'first-start', partitions: 4, owner: false },
      false,
    );
    expect(await filter.addMany(['a', 'b', 'c', 'd'])).toEqual([true, true, true, true]);
    expect(await filter.checkMany(['a', 'b', 'c', 'd', 'e'])).toEqual([
      'maybe',
      'maybe',
      'maybe',
      'maybe',
      'absent',
    ]);
    await filter.reset();
    expect(await filter.checkMany(['a', 'b', 'c', 'd'])).toEqual(Array(4).fill('absent'));
    await close();
  });
});
