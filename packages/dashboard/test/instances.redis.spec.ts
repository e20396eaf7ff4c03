import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { BloomGuarded } from 'nestjs-bloom';
import { eventually } from '../../../test/support/eventually.js';
import { GrowingTable } from '../../../test/support/growing-table.js';
import { PATIENT } from '../../../test/support/patience.js';
import { type RedisServer, startRedis } from '../../../test/support/redis-server.js';
import { type DashboardApp, openPage, PRODUCTS, startDashboard, streamed } from './dashboard-app.js';

@Injectable()
class Shop {
  @BloomGuarded('products')
  async find(sku: string): Promise<string | null> {
    return sku === 'a' ? sku : null;
  }
}

let server: RedisServer;
const apps: DashboardApp[] = [];
beforeAll(async () => {
  server = await startRedis();
});
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()));
});
afterAll(() => server?.stop());

async function start(filters: readonly object[] = [PRODUCTS]): Promise<DashboardApp> {
  const app = await startDashboard({
    platform: 'fastify',
    metadata: { providers: [Shop] },
    bloom: { redis: server.url, ...PATIENT, filters: filters as never },
  });
  apps.push(app);
  return app;
}

const tick = (app: DashboardApp, holds: (data: never) => boolean) =>
  streamed(`${app.url}/bloom/stream`, ({ event, data }) => event === 'tick' && holds(data as never));

describe('The dashboard of one instance of several', () => {
  it('shows lookups of the others, and a rebuild that another one runs, which it stops', async () => {
    const source = {
      async *ids({ signal }: { signal: AbortSignal }) {
        yield ['a'];
        await new Promise((_, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason as Error)),
        );
      },
    };
    const one = await start();
    await one.bloom.filter('products').rebuild();
    const other = await start([{ ...PRODUCTS, source }]);
    await tick(
      one,
      ({ filters: [row] }: { filters: [{ instances: unknown[] }] }) => row.instances.length === 2,
    );
    let isOn = true;
    const load = (async () => {
      while (isOn) {
        await other.app.get(Shop).find('absent');
        await new Promise((done) => setTimeout(done, 5));
      }
    })();
    const seen = await tick(
      one,
      ({ filters: [row] }: { filters: [{ blockedPerSecond?: number }] }) => (row.blockedPerSecond ?? 0) > 0,
    );
    expect(seen.data.detail.methods).toMatchObject([{ method: 'Shop.find' }]);
    isOn = false;
    await load;

    const ended = other.bloom
      .filter('products')
      .rebuild()
      .catch((error: unknown) => error);
    await tick(one, ({ filters: [row] }: { filters: [{ running?: object }] }) => row.running !== undefined);
    const headers = await openPage(`${one.url}/bloom/`);
    const post = (action: string) =>
      fetch(`${one.url}/bloom/actions/${action}`, { method: 'POST', headers, body: '{"filter":"products"}' });
    const skipped = await post('rebuild');
    expect(skipped.status).toBe(409);
    expect(await skipped.json()).toEqual({
      message: 'No rebuild: Another process is rebuilding this filter.',
    });
    expect((await post('stop')).status).toBe(202);
    await ended;
    await tick(
      one,
      ({ detail }: { detail: { rebuilds: { outcome: string }[] } }) =>
        detail.rebuilds[0]?.outcome === 'stopped',
    );
  });

  it('says how many of them answer from leased copies, and of each why it does not', async () => {
    const leased = { ...PRODUCTS, replica: 'leased', leaseMs: 1000 };
    const [one] = [await start([leased]), await start([leased]), await start([PRODUCTS])];
    await one.bloom.filter('products').rebuild();
    const use = setInterval(() => {
      for (const app of apps) void app.bloom.filter('products').check('absent');
    }, 20);
    try {
      const seen = await tick(
        one,
        ({ filters: [row] }: { filters: [{ copies?: { leased: number; all: number } }] }) =>
          row.copies?.leased === 2,
      );
      expect(seen.data.filters[0].copies).toMatchObject({ leased: 2, all: 2, causes: [] });
      const copies = seen.data.detail.instances.map(({ copy }: { copy?: string }) => copy ?? 'none');
      expect(copies.toSorted()).toEqual(['leased', 'leased', 'none']);
    } finally {
      clearInterval(use);
    }
  });

  it('says how many of them follow writers that pass the application by, and what those added', async () => {
    const table = new GrowingTable();
    for (let i = 0; i < 10; i++) table.insert();
    const filter = { ...PRODUCTS, source: table.source(), topUp: { everyMs: 20, overlapMs: 50 } };
    const [one] = [await start([filter]), await start([filter])];
    await one.bloom.filter('products').rebuild();
    const hasMark = async () => (await one.bloom.filter('products').info()).outside?.mark !== undefined;
    await eventually('there is a mark', hasMark);
    const inserts = setInterval(() => table.insert(), 20);
    try {
      const seen = await tick(
        one,
        ({ filters: [row] }: { filters: [{ outside?: { following: number; addedPerSecond?: number } }] }) =>
          row.outside?.following === 1 && (row.outside.addedPerSecond ?? 0) > 0,
      );
      expect(seen.data.filters[0].outside).toMatchObject({ failures: 0, gaps: 0 });
    } finally {
      clearInterval(inserts);
    }
  });

  it('sets the mode of all of them', async () => {
    const [one, other] = [await start(), await start()];
    const headers = await openPage(`${one.url}/bloom/`);
    const body = '{"filter":"products","mode":"shadow"}';
    expect((await fetch(`${one.url}/bloom/actions/mode`, { method: 'POST', headers, body })).status).toBe(
      200,
    );
    await eventually(
      'the other one has heard it',
      () => other.bloom.filter('products').guarding.mode === 'shadow',
    );
  });
});
