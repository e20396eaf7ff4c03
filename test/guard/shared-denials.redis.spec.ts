import { Injectable, NotFoundException } from '@nestjs/common';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import { Redis } from 'ioredis';
import { type BloomFeature, BloomGuarded, BloomModule, BloomRegisters, BloomService } from 'nestjs-bloom';
import { age } from '../support/denials.js';
import { eventually } from '../support/eventually.js';
import { PATIENT } from '../support/patience.js';
import { type RedisServer, startRedis } from '../support/redis-server.js';
import { startContext } from '../support/nest-app.js';

/** Twice the drain and a second. */
const MARK_MS = 21_000;
const rows = new Set<string>();
let calls = 0;
/** What a slow method waits for. */
let slow: Promise<unknown> = Promise.resolve();

@Injectable()
class Products {
  @BloomGuarded('products')
  async find(sku: string): Promise<{ sku: string } | null> {
    calls++;
    await new Promise(setImmediate);
    return rows.has(sku) ? { sku } : null;
  }

  @BloomGuarded('products')
  async get(sku: string): Promise<{ sku: string }> {
    calls++;
    if (!rows.has(sku)) throw new NotFoundException();
    return { sku };
  }

  @BloomGuarded('products', { coalesce: { key: () => '' } })
  async share(sku: string): Promise<{ sku: string } | null> {
    calls++;
    const found = rows.has(sku) ? { sku } : null;
    await slow;
    return found;
  }

  @BloomRegisters('products')
  async create(sku: string): Promise<{ sku: string }> {
    rows.add(sku);
    return { sku };
  }
}

/** A class of another application, of the same name, as bundles with short names have them. */
function otherClass() {
  @Injectable()
  class Products {
    @BloomGuarded('products')
    async find(sku: string): Promise<{ sku: string } | null> {
      calls++;
      return { sku: `other-${sku}` };
    }
  }
  return Products;
}

let server: RedisServer;
let admin: Redis;
let modules: TestingModule[] = [];

beforeAll(async () => {
  server = await startRedis();
  admin = new Redis(server.url);
});

beforeEach(async () => {
  await Promise.all(modules.map((module) => module.close()));
  await admin.flushall();
  rows.clear();
  calls = 0;
});

afterAll(async () => {
  await Promise.all(modules.map((module) => module.close()));
  admin.disconnect();
  await server.stop();
});

/** Two processes with a filter in which every bit is set: everything is a false positive. */
async function start(feature: Partial<BloomFeature> = {}, Second: new () => object = Products) {
  const startOne = (providers: (new () => object)[]) =>
    startContext({
      imports: [
        BloomModule.forRoot({ redis: server.url, ...PATIENT, onEvent: () => {} }),
        BloomModule.forFeature([
          {
            name: 'products',
            capacity: 1,
            errorRate: 0.001,
            negativeCache: { shared: true },
            create: 'first-start',
            ...feature,
          },
        ]),
      ],
      providers,
    });
  modules = [await startOne([Products]), await startOne([Second])];
  const [one, two] = modules.map((module, i) => ({
    products: module.get<Products>(i === 0 ? Products : Second),
    filter: module.get(BloomService).filter('products'),
  }));
  await one!.filter.addMany(Array.from({ length: 20_000 }, (_, i) => `filler-${i}`));
  await eventually('the table of the negative cache is there', async () => {
    await one!.products.find('anything');
    return (await admin.exists('bloom:{products}:denials')) === 1;
  });
  await Promise.all([one!.filter.info(), two!.filter.info()]);
  await age(admin, 'products', MARK_MS + 1);
  calls = 0;
  return { one: one!, two: two! };
}

it('what one class has denied is no answer of another class of the same name', async () => {
  const { one, two } = await start({}, otherClass());
  expect(await one.products.find('nothing')).toBeNull();
  await one.filter.check('anything');
  for (let i = 0; i < 3; i++) expect(await two.products.find('nothing')).toEqual({ sku: 'other-nothing' });
});

it('a false positive that is replayed reaches the method once in its life, over all processes', async () => {
  const lifeMs = 600_000;
  const { one, two } = await start({ negativeCache: { shared: true, lifeMs } });
  const before = [one, two].map(({ filter }) => filter.guarding.counts().maybe);
  expect(await one.products.find('nothing')).toBeNull();
  // Goes out behind the note, on the same connection: the next one of the other process comes later than
  // both.
  await one.filter.check('anything');
  for (let i = 0; i < 20; i++) {
    expect(await two.products.find('nothing')).toBeNull();
    if (i > 0) expect(await one.products.find('nothing')).toBeNull();
  }
  expect(calls).toBe(1);
  const counts = [one, two].map(({ filter }) => filter.guarding.counts());
  expect(counts.map(({ remembered }) => remembered)).toEqual([19, 20]);
  // A call counts once: those before wait for the table of the negative cache.
  expect(counts.map(({ maybe }, i) => maybe - before[i]!)).toEqual([1, 0]);
  // Lives differ by a fifth.
  await age(admin, 'products', 1.2 * lifeMs + 1);
  await two.products.find('nothing');
  expect(calls).toBe(2);
});

it('what one method finds nothing for, another one is asked for', async () => {
  const { one, two } = await start();
  await one.products.find('nothing');
  await expect(two.products.get('nothing')).rejects.toThrow(NotFoundException);
  expect(calls).toBe(2);
});

it('an id is found by every process as soon as its create has returned', async () => {
  const { one, two } = await start();
  for (let i = 0; i < 20; i++) {
    const sku = `new-${i}`;
    await one.products.find(sku);
    await two.products.create(sku);
    expect(await one.products.find(sku)).toEqual({ sku });
  }
});

it('an id whose row is not visible yet is not denied, and found when it is', async () => {
  const { one, two } = await start();
  const before = one.products.find('7');
  await two.filter.add(7);
  expect([await before, await one.products.find('7'), await two.products.find('7')]).toEqual([
    null,
    null,
    null,
  ]);
  rows.add('7');
  expect([await one.products.find('7'), await two.products.find('7')]).toEqual([{ sku: '7' }, { sku: '7' }]);
});

it('in shadow mode nothing is blocked', async () => {
  const { one } = await start({ shadow: true });
  const before = one.filter.guarding.counts();
  for (let i = 0; i < 3; i++) await one.products.find('nothing');
  expect(calls).toBe(3);
  const { foundNothing, remembered, maybe } = one.filter.guarding.counts();
  expect(foundNothing - before.foundNothing).toBe(3);
  expect([remembered - before.remembered, maybe - before.maybe]).toEqual([2, 1]);
});

it('a lookup that joined the call of another one notes nothing: it may have begun before an add', async () => {
  const { one, two } = await start({ rebuild: { drainMs: 0 } });
  await one.products.share('the first to be shared');
  let proceed = () => {};
  slow = new Promise<void>((resolve) => (proceed = resolve));
  const first = one.products.share('late');
  await eventually('the method runs', () => calls === 2);
  rows.add('late');
  await two.filter.add('late');
  // The mark of the add ends.
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  const { maybe } = one.filter.guarding.counts();
  const joined = one.products.share('late');
  await eventually('the filter has answered', () => one.filter.guarding.counts().maybe > maybe);
  // Goes out behind the question to the negative cache, which comes before the call: that has been joined
  // when this is answered.
  await one.products.find('another');
  proceed();
  expect([await first, await joined]).toEqual([null, null]);
  // The two that ran before, and the one that was waited for.
  expect(calls).toBe(3);
  expect(await two.products.share('late')).toEqual({ sku: 'late' });
});
