import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { BloomModule, BloomService, BloomUnavailableError } from 'nestjs-bloom';
import { eventually } from '../support/eventually.js';
import { startContext } from '../support/nest-app.js';
import { PATIENT } from '../support/patience.js';
import { type RedisServer, startRedis } from '../support/redis-server.js';

const source = {
  async *ids() {
    yield ['a', 'b'];
  },
};
const products = { name: 'products', capacity: 1000, source };

describe('the first start on Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  it('is in the log: since when the filter does not protect, what it waits for, and when it is ready', async () => {
    const lines: string[] = [];
    for (const level of ['log', 'warn', 'error'] as const)
      jest.spyOn(Logger.prototype, level).mockImplementation((text) => void lines.push(String(text)));
    try {
      const filters = [{ ...products, rebuild: { drainMs: 200 } }];
      const module = await startContext({
        imports: [BloomModule.forRoot({ redis: redis.url, ...PATIENT, filters })],
      });
      await module.get(BloomService).whenReady({ timeoutMs: 60_000 });
      await module.close();
    } finally {
      jest.restoreAllMocks();
    }
    const text = lines.filter((line) => line.includes("'products'")).join('\n');
    const inOrder = [
      "Filter 'products' does not protect yet, since it is unbuilt: lookups go through until its first build",
      'It reads the source in 0.2 s, so that open transactions can commit (rebuild.drainMs).',
      "Filter 'products': the rebuild reads the source.",
      "Filter 'products': rebuilt with 2 ids in",
    ];
    expect(inOrder.map((part) => text.indexOf(part))).toEqual(
      inOrder.map((part) => text.indexOf(part)).toSorted((a, b) => a - b),
    );
    for (const part of inOrder) expect(text).toContain(part);
  });

  it('says that nobody builds the filter', async () => {
    const events: object[] = [];
    const filters = [{ ...products, name: 'unasked', rebuild: { onBoot: 'never' as const } }];
    const onEvent = (event: object) => events.push(event);
    const module = await startContext({
      imports: [BloomModule.forRoot({ redis: redis.url, ...PATIENT, filters, onEvent })],
    });
    const told = { type: 'not-ready', filter: 'unasked', state: 'unbuilt', isBuilt: false };
    await eventually('it is said', () => events.some((event) => 'type' in event && event.type === told.type));
    const waited = module.get(BloomService).whenReady({ timeoutMs: 500 });
    await expect(waited).rejects.toThrow(BloomUnavailableError);
    await expect(waited).rejects.toThrow(
      "Expected all filters to be ready within 500 ms. Not ready: 'unasked' (unbuilt).",
    );
    await module.close();
    expect(events).toContainEqual(told);
  });
});

describe('whenReady', () => {
  it('waits for the filters that are named', async () => {
    const never = { name: 'never', capacity: 10, source, rebuild: { onBoot: 'never' as const } };
    const module = await startContext({
      imports: [BloomModule.forRoot({ onEvent: () => {}, filters: [products, never] })],
    });
    const bloom = module.get(BloomService);
    await bloom.whenReady({ filters: ['products'], timeoutMs: 60_000 });
    expect(await bloom.filter('products').check('c')).toBe('absent');
    await expect(bloom.whenReady({ filters: ['nobody'] })).rejects.toThrow("No filter is named 'nobody'");
    await expect(bloom.whenReady({ timeoutMs: 10 })).rejects.toThrow("Not ready: 'never' (unbuilt).");
    await module.close();
  });
});
