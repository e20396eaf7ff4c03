import { Injectable } from '@nestjs/common';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import { type BloomEvent, BloomGuarded, BloomModule, BloomService } from 'nestjs-bloom';
import { eventually } from '../support/eventually.js';
import { startContext } from '../support/nest-app.js';
import { PATIENT } from '../support/patience.js';
import { type RedisServer, startRedis } from '../support/redis-server.js';

@Injectable()
class Products {
  @BloomGuarded('products')
  async withDefault(sku: string): Promise<object> {
    return { sku, stock: 0 };
  }
}

let server: RedisServer;
beforeAll(async () => void (server = await startRedis()));
afterAll(() => server.stop());

const modules: TestingModule[] = [];
afterEach(() => Promise.all(modules.splice(0).map((module) => module.close())));

async function start() {
  const events: BloomEvent[] = [];
  const source = {
    async *ids() {
      yield ['mug'];
    },
  };
  const rebuild = { drainMs: 300 } as const;
  const module = await startContext({
    imports: [
      BloomModule.forRoot({
        redis: server.url,
        ...PATIENT,
        filters: [
          { name: 'products', capacity: 1000, errorRate: 1e-6, source, rebuild, audit: { sampleRate: 1 } },
        ],
        onEvent: (event) => events.push(event),
      }),
    ],
    providers: [Products],
  });
  modules.push(module);
  const filter = module.get(BloomService).filter('products');
  return { filter, products: module.get(Products), events };
}

it('takes a filter down once for a method that returns a default, however many processes audit it', async () => {
  const first = await start();
  await eventually('the filter is built', async () => (await first.filter.info()).builds === 1);
  const second = await start();
  await second.products.withDefault('mug');
  await first.products.withDefault('nobody-1');
  await eventually('the filter is built again', async () => {
    await second.products.withDefault('mug');
    return (await second.filter.info()).builds === 2;
  });
  for (let i = 2; i < 5; i++) await second.products.withDefault(`nobody-${i}`);
  const wrongAbsents = () =>
    [...first.events, ...second.events].filter(({ type }) => type === 'wrong-absent');
  await eventually('all are reported', () => wrongAbsents().length === 4);
  expect(second.filter.guarding.counts().wrongAbsents).toBe(3);
  expect((await first.filter.info()).builds).toBe(2);
  expect(wrongAbsents()).toMatchObject([{ distrusted: true }, ...Array(3).fill({ distrusted: false })]);
  // A process that starts later has distrusted nothing itself.
  const third = await start();
  await third.filter.check('mug');
  await third.products.withDefault('mug');
  await third.products.withDefault('nobody-5');
  await eventually('it is reported', () => third.filter.guarding.counts().wrongAbsents === 1);
  await eventually('it says what it did', () => third.events.some(({ type }) => type === 'wrong-absent'));
  expect(third.events.filter(({ type }) => type === 'wrong-absent')).toMatchObject([{ distrusted: false }]);
  expect((await third.filter.info()).state).toBe('ready');
});
