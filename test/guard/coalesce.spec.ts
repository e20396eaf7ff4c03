import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable } from '@nestjs/common';
import { BloomConfigError, BloomGuarded } from '../../src/index.js';
import { leastCpuMsOf } from '../support/cpu-time.js';
import { GuardedProviders } from './support/guarded-providers.js';

const users = new AsyncLocalStorage<string>();
let calls: number;
let answers: unknown;

@Injectable()
class Orders {
  @BloomGuarded('products', { coalesce: { key: () => users.getStore() } })
  async find(id: string): Promise<object> {
    calls++;
    await new Promise(setImmediate);
    return { id, readAs: users.getStore() };
  }

  @BloomGuarded('products', { id: 'id', coalesce: { key: (query: { page: number }) => `${query.page}` } })
  async findBy(query: { id: string; page: number }): Promise<object> {
    calls++;
    await new Promise(setImmediate);
    return query;
  }

  @BloomGuarded('products', { coalesce: { key: () => answers as string } })
  async odd(id: string): Promise<string> {
    calls++;
    await new Promise(setImmediate);
    return id;
  }
}

describe('A guard that coalesces', () => {
  let app: GuardedProviders;
  let orders: Orders;

  beforeEach(async () => {
    calls = 0;
    app = new GuardedProviders();
    app.products.verdict = 'maybe';
    orders = (await app.start([Orders])).get(Orders);
    // What was added before the first shared call is not known.
    await orders.find('warm-up');
    await new Promise((resolve) => setTimeout(resolve, 5));
    calls = 0;
  });

  afterEach(() => app.close());

  it('gives no caller what was read for another user', async () => {
    const read = (user: string) => users.run(user, () => orders.find('o-1'));
    const found = await Promise.all([read('alice'), read('mallory'), read('alice')]);
    expect(found.map((order) => (order as { readAs: string }).readAs)).toEqual(['alice', 'mallory', 'alice']);
    expect(found[2]).toBe(found[0]);
    expect(calls).toBe(2);
    calls = 0;
    await Promise.all([orders.find('o-1'), orders.find('o-1')]);
    expect(calls).toBe(2);
  });

  it('never shares a result between ids, whatever the key is', async () => {
    answers = '1 x';
    expect(await Promise.all([orders.odd('a'), orders.odd('b')])).toEqual(['a', 'b']);
    expect(calls).toBe(2);
  });

  it('runs a call alone whose key is too long, no text or cannot be made, with an event for a mistake', async () => {
    const failing = Promise.reject(new Error('Nobody waits for it.'));
    for (answers of ['x'.repeat(1025), undefined, 7, Symbol('key'), failing]) {
      calls = 0;
      await Promise.all([orders.odd('a'), orders.odd('a')]);
      expect(calls).toBe(2);
    }
    const events = app.events.filter((event) => event.type === 'guard-error');
    expect(events).toHaveLength(6);
    expect(events[0]).toMatchObject({ method: 'Orders.odd', operation: 'coalesce.key' });
  });

  it('takes linear time for many calls at once, with object arguments', async () => {
    const time = (size: number) =>
      leastCpuMsOf(() =>
        Promise.all(Array.from({ length: size }, (_, i) => orders.findBy({ id: `o-${i % 100}`, page: i }))),
      );
    const [few, many] = [await time(2000), await time(16_000)];
    // Eight times as many take 64 times as long where each is compared with all.
    expect(many).toBeLessThan(few * 30 + 100);
  });

  it('joins calls with objects that are not the same, where id and key are equal', async () => {
    const query = () => ({ id: 'o-1', page: 1 });
    const [one, two] = await Promise.all([orders.findBy(query()), orders.findBy(query())]);
    expect(two).toBe(one);
    expect(calls).toBe(1);
  });

  it('refuses to share without being told what a result depends on', () => {
    expect(() => {
      class Careless {
        // @ts-expect-error Nobody has said what the result depends on.
        @BloomGuarded('products', { coalesce: true })
        async find(_id: string) {}
      }
      return Careless;
    }).toThrow(BloomConfigError);
  });
});
