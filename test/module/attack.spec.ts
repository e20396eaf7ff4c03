import { Injectable } from '@nestjs/common';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import {
  BloomConfigError,
  type BloomEvent,
  type BloomEventOf,
  BloomGuarded,
  BloomModule,
} from 'nestjs-bloom';
import { eventually } from '../support/eventually.js';
import { startContext } from '../support/nest-app.js';

@Injectable()
class Shop {
  @BloomGuarded('products')
  async find(id: string): Promise<string | null> {
    return id;
  }

  @BloomGuarded('orders')
  async order(id: string): Promise<string | null> {
    return id;
  }
}

let module: TestingModule | undefined;
let events: BloomEvent[];

async function start(options: Parameters<typeof BloomModule.forRoot>[0] = {}): Promise<Shop> {
  events = [];
  const filters = ['products', 'orders'].map((name) => ({
    name,
    capacity: 1_000,
    create: 'first-start' as const,
    audit: false as const,
  }));
  const root = BloomModule.forRoot({
    filters,
    logger: false,
    onEvent: (event) => events.push(event),
    ...options,
  });
  module = await startContext({ imports: [root], providers: [Shop] });
  return module.get(Shop);
}

const attacks = () =>
  events.filter((event): event is BloomEventOf<'attack-started' | 'attack-ended'> =>
    event.type.startsWith('attack'),
  );

/** Asks for absent ids until something is seen. */
async function flood(find: (id: string) => Promise<unknown>, isSeen: () => boolean): Promise<void> {
  let asked = 0;
  await eventually('the attack is seen', async () => {
    for (let i = 0; i < 20; i++) expect(await find(`absent-${asked++}`)).toBeNull();
    return isSeen();
  });
}

afterEach(async () => {
  await module?.close();
  module = undefined;
});

describe('An attack', () => {
  it('is reported for its filter and method when it starts and when it ends', async () => {
    const before = new Date();
    const shop = await start({ attack: { endAfterMs: 500 } });
    await flood(
      (id) => shop.find(id),
      () => attacks().length > 0,
    );
    const [started] = attacks() as [BloomEventOf<'attack-started'>];
    expect(started).toMatchObject({
      type: 'attack-started',
      filter: 'products',
      method: 'Shop.find',
      share: 1,
      clients: [],
    });
    expect(started.rate).toBeGreaterThan(50);
    expect(started.usualRate).toBe(0);
    expect(started.since.getTime()).toBeGreaterThanOrEqual(before.getTime());
    expect(started.since.getTime()).toBeLessThanOrEqual(Date.now());
    await eventually('the attack is over', () => attacks().length > 1);
    const [, ended] = attacks() as [unknown, BloomEventOf<'attack-ended'>];
    expect(ended).toMatchObject({
      type: 'attack-ended',
      filter: 'products',
      method: 'Shop.find',
      clients: [],
    });
    expect(ended.absents).toBeGreaterThan(50);
    expect(ended.peakRate).toBeGreaterThan(50);
    expect(ended.durationMs).toBeGreaterThan(0);
    await shop.order('absent');
    expect(attacks()).toHaveLength(2);
  });

  it('is not reported with attack: false', async () => {
    const intervals = jest.spyOn(globalThis, 'setInterval');
    await start({ attack: false });
    expect(intervals.mock.calls.filter(([, ms]) => ms === 250)).toEqual([]);
    await module!.close();
    await start();
    expect(intervals.mock.calls.filter(([, ms]) => ms === 250)).toHaveLength(1);
    intervals.mockRestore();
  });

  it.each([
    [{ minPerSecond: 0 }, 'attack.minPerSecond to be a number above 0, got 0'],
    [{ minPerSecond: Number.NaN }, 'a number above 0, got NaN'],
    [{ factor: 1 }, 'attack.factor to be a number above 1, got 1'],
    [{ startAfterMs: 100 }, 'attack.startAfterMs to be a number from 500 to 60,000, got 100'],
    [{ endAfterMs: '1s' }, "attack.endAfterMs to be a number above 0, got '1s'"],
    [{ client: 'ip' }, "attack.client to be a function of the ExecutionContext of a request, got 'ip'"],
    [{ maxClients: 1.5 }, 'attack.maxClients to be a whole number from 1 to 1,000,000, got 1.5'],
    [{ factr: 5 }, "expected no option 'attack.factr'. Did you mean 'attack.factor'?"],
    [true, 'expected attack to be an object'],
  ])('has no option like %j', (attack, message) => {
    const make = () => BloomModule.forRoot({ attack: attack as never });
    expect(make).toThrow(BloomConfigError);
    expect(make).toThrow(message);
  });
});
