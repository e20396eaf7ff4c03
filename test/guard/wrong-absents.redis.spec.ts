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
  const wrongAbsents = (...of: (typeof first)[]) =>
    of.flatMap(({ events }) => events.filter((event) => event.type === 'wrong-absent'));
  const isOff = (one: typeof first) => wrongAbsents(one).some(({ guardOff }) => guardOff);
  for (let i = 2; i < 5; i++) await second.products.withDefault(`nobody-${i}`);
  await eventually('the guard of the second one is off', () => isOff(second));
  expect((await first.filter.info()).builds).toBe(2);
  expect(wrongAbsents(first, second).map(({ distrusted }) => distrusted)).toEqual([
    true,
    ...wrongAbsents(second).map(() => false),
  ]);
  // A process that starts later has distrusted nothing itself.
  const third = await start();
  await third.filter.check('mug');
  await third.products.withDefault('mug');
  await third.products.withDefault('nobody-5');
  await eventually('it is reported', () => wrongAbsents(third).length === 1);
  expect(wrongAbsents(third)).toMatchObject([{ distrusted: false }]);
  expect(isOff(third)).toBe(false);
  // Once more, in a filter that was rebuilt lately.
  await third.products.withDefault('nobody-6');
  await eventually('the guard of the third one is off', () => isOff(third));
  expect((await third.filter.info()).state).toBe('ready');
});
