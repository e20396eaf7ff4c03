import { createHook } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import type { Redis } from 'ioredis';
import {
  BloomConfigError,
  type BloomEvent,
  type BloomFeature,
  type BloomFilter,
  BloomGuarded,
  BloomModule,
  BloomRegisters,
  type BloomServerlessOptions,
  BloomService,
} from 'nestjs-bloom';
import { eventually } from '../support/eventually.js';
import { startContext } from '../support/nest-app.js';
import { GAP, GrowingTable } from '../support/growing-table.js';
import { PATIENT } from '../support/patience.js';
import { RedisFixture } from '../support/redis-fixture.js';

@Injectable()
class Shop {
  readonly rows = new Set(['mug', 'cup']);

  @BloomGuarded('products', { onAbsent: () => 'absent' })
  async find(sku: string): Promise<string | null> {
    return this.rows.has(sku) ? sku : null;
  }

  @BloomRegisters('products')
  async create(sku: string): Promise<void> {
    this.rows.add(sku);
  }
}

const SOURCE = {
  async *ids() {
    yield ['mug', 'cup'];
  },
};
const PRODUCTS: BloomFeature = {
  name: 'products',
  capacity: 1000,
  source: SOURCE,
  rebuild: { everyMs: 10, onBoot: 'always', drainMs: 0 },
  audit: false,
};

let redis: RedisFixture;
let admin: Redis;
let monitor: Redis;
let sent: string[] = [];
const opened: TestingModule[] = [];
const events: BloomEvent[] = [];

beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
  monitor = await admin.monitor();
  monitor.on('monitor', (_time: string, words: string[], source: string) => {
    if (source !== 'lua' && words[0] !== 'client') sent.push(words.slice(0, 3).join(' '));
  });
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((module) => module.close()));
  events.length = 0;
});
afterAll(async () => {
  monitor.disconnect();
  await redis.close();
});

/** Without deadlines of its own unless a test says so: the machine may be busy. */
async function start(
  features: readonly BloomFeature[],
  options: Partial<BloomServerlessOptions> = {},
): Promise<TestingModule> {
  const module = await startContext({
    imports: [
      BloomModule.forRoot({
        redis: redis.server.url,
        runtime: 'serverless',
        ...PATIENT,
        owner: 'shop',
        onEvent: (event) => void events.push(event),
        ...options,
      }),
      BloomModule.forFeature(features),
    ],
    providers: features.some(({ name }) => name === 'products') ? [Shop] : [],
  });
  opened.push(module);
  return module;
}

const filterOf = (module: TestingModule, name = 'products'): BloomFilter =>
  module.get(BloomService).filter(name);

/** As the command line does it, in another process. */
async function rebuilt(features: readonly BloomFeature[], name = 'products'): Promise<void> {
  const module = await start(features);
  await filterOf(module, name).rebuild();
  await module.close();
}

/** Names of connections, without those of this test. */
async function connections(): Promise<string[]> {
  const lines = String(await admin.client('LIST'))
    .trim()
    .split('\n');
  return lines
    .filter((line) => !/ cmd=(monitor|client)/.test(line))
    .map((line) => /^id=(\d+)/.exec(line)![1]!);
}

async function cutAll(): Promise<void> {
  for (const id of await connections()) await admin.client('KILL', 'ID', id);
}

interface Timer {
  readonly _destroyed: boolean;
}

/** Timers of the library, those included that keep no process, which have not ended. */
function watchTimers() {
  const timers: { readonly timer: Timer; readonly from: string }[] = [];
  const hook = createHook({
    init(_id, type, _trigger, resource) {
      if (type !== 'Timeout') return;
      const [, , ...lines] = (new Error('a timer').stack ?? '').split('\n');
      const from = lines.find((line) => line.includes('/') && !line.includes('node:')) ?? '';
      if (from.includes('/src/')) timers.push({ timer: resource as Timer, from });
    },
  }).enable();
  return {
    count: () => timers.length,
    left: () => timers.filter(({ timer }) => !timer._destroyed).map(({ from }) => from),
    end: () => hook.disable(),
  };
}

describe('A process that stands still between calls', () => {
  it('sends Redis nothing before the first lookup, and connects with it', async () => {
    await eventually('no process is left', async () => (await connections()).length === 0);
    sent = [];
    const module = await start([PRODUCTS, { name: 'codes', capacity: 100, create: 'first-start' }]);
    await delay(300);
    expect(await connections()).toEqual([]);
    expect(sent).toEqual([]);
    expect(await filterOf(module).check('mug')).toBe('unknown');
    expect(await connections()).toHaveLength(1);
    expect(sent.length).toBeGreaterThan(0);
  });

  it('checks, adds and guards, and has an add in Redis before the call ends', async () => {
    await rebuilt([PRODUCTS]);
    const shop = (await start([PRODUCTS])).get(Shop);
    const other = filterOf(await start([PRODUCTS]));
    expect(await shop.find('mug')).toBe('mug');
    expect(await shop.find('lamp')).toBe('absent');
    await shop.create('lamp');
    expect(await other.check('lamp')).toBe('maybe');
    expect(await shop.find('lamp')).toBe('lamp');
    expect(await other.checkMany(['mug', 'spoon'])).toEqual(['maybe', 'absent']);
  });

  it('makes a filter without a source by its first add', async () => {
    const module = await start([{ name: 'tickets', capacity: 100, create: 'first-start' }]);
    expect(await filterOf(module, 'tickets').add('a')).toBe(true);
    expect(await filterOf(module, 'tickets').check('a')).toBe('maybe');
  });

  it('has no timer once it has started, nor after a call', async () => {
    await rebuilt([PRODUCTS]);
    const timers = watchTimers();
    try {
      const shop = (await start([PRODUCTS])).get(Shop);
      expect(timers.left()).toEqual([]);
      await shop.find('mug');
      await shop.find('spoon');
      await shop.create('fork');
      // Deadlines, all of which have ended.
      expect(timers.count()).toBeGreaterThan(0);
      await eventually('no timer is left', () => timers.left().length === 0);
      expect(timers.left()).toEqual([]);
      const before = timers.count();
      await delay(1500);
      expect(timers.count()).toBe(before);
    } finally {
      timers.end();
    }
  });

  it('answers over a new connection when the server has ended the old one', async () => {
    await rebuilt([PRODUCTS]);
    const filter = filterOf(await start([PRODUCTS]));
    for (let i = 0; i < 5; i++) {
      await filter.add(`late-${i}`);
      await cutAll();
      expect(await filter.check(`late-${i}`)).not.toBe('absent');
      await eventually('it is served again', async () => (await filter.check(`late-${i}`)) === 'maybe');
      expect(await filter.check('spoon')).toBe('absent');
    }
  });

  it('starts without Redis, and lets its lookups pass', async () => {
    const module = await start([PRODUCTS], {
      redis: { host: '127.0.0.1', port: 1 },
      timeoutMs: 50,
      writeTimeoutMs: 200,
    });
    expect(await filterOf(module).check('mug')).toBe('unknown');
    expect(await module.get(Shop).find('spoon')).toBeNull();
  });
});

describe('Ids in order, where no process follows', () => {
  const table = new GrowingTable();
  table.fill(300);
  const LATER = 420;
  const ORDERS: BloomFeature = {
    name: 'orders',
    capacity: 10_000,
    source: table.source(),
    rebuild: { drainMs: 50 },
    audit: false,
  };
  const HOLDER = 'bloom:{orders}:outside:holder';

  it('are covered up to the mark of the last rebuild', async () => {
    await rebuilt([ORDERS], 'orders');
    const filter = filterOf(await start([ORDERS]), 'orders');
    expect(await filter.checkMany([GAP, 300, LATER])).toEqual(['absent', 'maybe', 'unknown']);
    while (table.ids.at(-1) !== LATER - 1) table.insert();
    table.nextId();
    for (let i = 0; i < 300; i++) table.insert();
    await rebuilt([ORDERS], 'orders');
    await eventually('the next mark is known', async () => (await filter.check(LATER)) === 'absent');
    expect(await filter.check(table.ids.at(-1)! + 1)).toBe('unknown');
    expect((await filter.info()).outside?.isFollowing).toBe(false);
  });

  it('are never followed by such a process', async () => {
    const filter = filterOf(await start([ORDERS]), 'orders');
    sent = [];
    for (let i = 0; i < 3; i++) {
      await filter.check(GAP);
      await delay(1100);
    }
    expect(await admin.exists(HOLDER)).toBe(0);
    // A process that follows keeps its place.
    await admin.set(HOLDER, 'another', 'EX', 100);
    expect(await filter.check(GAP)).toBe('absent');
    expect(await admin.get(HOLDER)).toBe('another');
    await admin.del(HOLDER);
  });

  it('are unknown when the mark was given up meanwhile', async () => {
    const filter = filterOf(await start([ORDERS]), 'orders');
    expect(await filter.check(GAP)).toBe('absent');
    const [marks] = (await admin.keys('bloom:{orders}:outside:*')).filter((key) => key !== HOLDER);
    await admin.hset(marks!, 'doubt', 'rows are missing');
    await delay(1100);
    expect(await filter.check(GAP)).toBe('unknown');
    await admin.hdel(marks!, 'doubt');
  });
});

describe('Options that need a process that runs', () => {
  it.each<[string, Partial<BloomFeature>]>([
    ['replica', { replica: 'verified' }],
    ['topUp', { topUp: {} }],
    ['feed', { feed: { follow: async () => {} } as never }],
    ['negativeCache', { negativeCache: true }],
  ])('are refused: %s of a filter', async (name, feature) => {
    const started = start([{ ...PRODUCTS, ...feature }]);
    await expect(started).rejects.toThrow(BloomConfigError);
    await expect(started).rejects.toThrow(new RegExp(`Filter 'products': expected ${name} to be`));
  });

  it.each(['heartbeat', 'attack', 'copies'])('are refused: %s of the module', (name) => {
    const options = { redis: redis.server.url, runtime: 'serverless', [name]: {} } as never;
    expect(() => BloomModule.forRoot(options)).toThrow(new RegExp(`expected ${name} to be .*left out`));
  });

  it('are refused by the compiler', () => {
    const root = { ...PATIENT, redis: redis.server.url, runtime: 'serverless' } as const;
    // @ts-expect-error nothing beats between calls
    const beats = () => BloomModule.forRoot({ ...root, heartbeat: true });
    // @ts-expect-error a filter in memory does not outlive its process
    const inMemory = () => BloomModule.forRoot({ runtime: 'serverless' });
    expect(beats).toThrow(/expected heartbeat/);
    expect(inMemory).toThrow("expected redis to be given with runtime: 'serverless'");
    expect(BloomModule.forRoot({ ...root, heartbeat: false })).toBeDefined();
  });
});
