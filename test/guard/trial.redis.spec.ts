import { Controller, Get, Injectable, NotFoundException, Param, UseInterceptors } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type BloomEvent,
  type BloomFilterOptions,
  BloomGuarded,
  BloomInterceptor,
  BloomModule,
  BloomRegisters,
  BloomService,
} from 'nestjs-bloom';
import { eventually } from '../support/eventually.js';
import { given } from '../support/given.js';
import { PLATFORMS, type RunningApp, startApp, startContext } from '../support/nest-app.js';
import { PATIENT } from '../support/patience.js';
import { RedisFixture } from '../support/redis-fixture.js';

/** The table of all applications of a test. */
const rows = new Set<string>();

@Injectable()
class Products {
  @BloomGuarded('products')
  async find(sku: string): Promise<string | null> {
    return rows.has(sku) ? sku : null;
  }

  @BloomRegisters('products')
  async create(sku: string): Promise<void> {
    rows.add(sku);
  }
}

const found = async (sku: string) => {
  if (!rows.has(sku)) throw new NotFoundException();
  return { sku };
};

@Controller()
class ShopController {
  /** Its guard reads the first argument. */
  @Get('shops/:tenant/:id')
  @BloomGuarded('products')
  async byArgument(@Param('tenant') _tenant: string, @Param('id') id: string): Promise<object> {
    return found(id);
  }

  @Get('shops-of/:tenant/:id')
  @UseInterceptors(BloomInterceptor)
  @BloomGuarded('products', { param: 'tenant' })
  async byParameter(@Param('tenant') _tenant: string, @Param('id') id: string): Promise<object> {
    return found(id);
  }
}

const source = {
  async *ids() {
    yield [...rows];
  },
};

const skus = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}-${i}`);

describe('A setup that would deny rows shows itself, and denies none, where', () => {
  let redis: RedisFixture;
  let other: RedisFixture;
  let prefix: string;
  const modules: (TestingModule | RunningApp)[] = [];

  beforeAll(async () => {
    [redis, other] = await Promise.all([RedisFixture.start(), RedisFixture.start()]);
  });
  afterAll(() => Promise.all([redis.close(), other.close()]));

  beforeEach(() => {
    rows.clear();
    prefix = redis.name();
  });
  afterEach(() => Promise.all(modules.splice(0).map((one) => one.close())));

  function bloom(
    events: BloomEvent[],
    options: Partial<BloomFilterOptions> = {},
    { url = redis.server.url, keyPrefix = prefix } = {},
  ) {
    return BloomModule.forRoot({
      redis: url,
      keyPrefix,
      ...PATIENT,
      onEvent: (event) => events.push(event),
      filters: [
        given({
          name: 'products',
          capacity: 1000,
          errorRate: 1e-6,
          source,
          rebuild: { drainMs: 300 },
          ...options,
        }),
      ],
    });
  }

  /** An instance of the application. */
  async function start(
    ...[options, at]: [options?: Partial<BloomFilterOptions>, at?: { url?: string; keyPrefix?: string }]
  ) {
    const events: BloomEvent[] = [];
    const module = await startContext({ imports: [bloom(events, options, at)], providers: [Products] });
    modules.push(module);
    return {
      products: module.get(Products),
      filter: module.get(BloomService).filter('products'),
      module,
      events,
    };
  }

  const wrongAbsents = (events: readonly BloomEvent[]) =>
    events.filter((event) => event.type === 'wrong-absent');
  const advice = (events: readonly BloomEvent[]) =>
    events.flatMap((event) =>
      event.type === 'advice' && event.text.includes(' returned a value ') ? [event.text] : [],
    );
  const isOff = (events: readonly BloomEvent[]) => wrongAbsents(events).some(({ guardOff }) => guardOff);

  /** Asks for rows, one after the other, and again, until the guard is off. */
  async function askUntilOff(events: readonly BloomEvent[], ask: (row: number) => Promise<void>) {
    let row = 0;
    await eventually('the guard is off', async () => {
      for (let i = 0; i < 5; i++) await ask(row++);
      return isOff(events);
    });
    for (let i = 0; i < 100; i++) await ask(row++);
  }

  describe.each(PLATFORMS)('a guard reads another parameter of a route of %s', (platform) => {
    it.each([
      ['argument', 'shops', 'byArgument'],
      ['parameter behind BloomInterceptor', 'shops-of', 'byParameter'],
    ])('by its %s', async (_door, path, method) => {
      const events: BloomEvent[] = [];
      for (const sku of skus('sku', 100)) rows.add(sku);
      const running = await startApp(platform, { imports: [bloom(events)], controllers: [ShopController] });
      modules.push(running);
      await running.app.get(BloomService).whenReady();
      await askUntilOff(events, async (row) => {
        const sku = `sku-${row % 100}`;
        const answer = await running.get(`/${path}/tenant-${row % 7}/${sku}`);
        expect(answer).toEqual({ status: 200, body: { sku } });
      });
      expect(wrongAbsents(events).filter(({ distrusted }) => distrusted)).toHaveLength(1);
      expect(wrongAbsents(events).filter(({ guardOff }) => guardOff)).toHaveLength(1);
      expect(advice(events)[0]).toMatch(
        new RegExp(
          `^BLOOM_WRONG_ABSENT: ShopController\\.${method} returned a value .* such as 'tenant-\\d'.*what the guard reads`,
        ),
      );
      expect(advice(events).join()).toContain('lets every call through');
      expect((await running.get(`/${path}/tenant-1/none`)).status).toBe(404);
    });
  });

  it('a filter has no source, and was emptied', async () => {
    for (const sku of skus('old', 30)) rows.add(sku);
    const { products, filter, events } = await start({ source: undefined, rebuild: {} });
    await filter.reset();
    for (const sku of rows) expect(await products.find(sku)).toBe(sku);
    await eventually('the guard is off', () => isOff(events));
    expect(wrongAbsents(events)[0]).toMatchObject({ distrusted: false });
    expect(advice(events).join()).toContain('without a source it knows only');
    expect((await filter.info()).state).toBe('ready');
    await products.create('new');
    for (const sku of rows) expect(await products.find(sku)).toBe(sku);
  });

  it('one of two instances has another normalize', async () => {
    for (const sku of skus('SKU', 50)) rows.add(sku);
    const lower = await start({ normalize: 'lowercase', replica: 'off' });
    await lower.module.get(BloomService).whenReady();
    const plain = await start({ replica: 'off' });
    await plain.module.get(BloomService).whenReady();
    for (const sku of rows)
      expect([await plain.products.find(sku), await lower.products.find(sku)]).toEqual([sku, sku]);
    const events = [...lower.events, ...plain.events];
    expect(wrongAbsents(events)).toEqual([]);
    expect(events).toContainEqual(
      expect.objectContaining({ reason: expect.stringContaining('has another normalize than this one') }),
    );
  });

  it.each([
    ['Redis', () => ({ url: other.server.url })],
    ['keyPrefix', () => ({ keyPrefix: `${prefix}-other` })],
  ])('one of two instances has another %s', async (_what, at) => {
    for (const sku of skus('old', 5)) rows.add(sku);
    const first = await start();
    const second = await start({}, at());
    for (const { module } of [first, second]) await module.get(BloomService).whenReady();
    for (const sku of rows) expect(await second.products.find(sku)).toBe(sku);
    await askUntilOff(second.events, async (row) => {
      const sku = `new-${row}`;
      await first.products.create(sku);
      expect(await second.products.find(sku)).toBe(sku);
    });
    expect(wrongAbsents(first.events)).toEqual([]);
    expect(wrongAbsents(second.events)).toContainEqual(expect.objectContaining({ distrusted: true }));
    expect(advice(second.events).join()).toContain('redis or keyPrefix');
  });
});
