import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { setTimeout as sleep } from 'node:timers/promises';
import { build, idsOf } from '../../../support/built-filter.js';
import { eventually } from '../../../support/eventually.js';
import { openOptions } from '../../../support/open-options.js';
import { type Instance, RedisFixture } from '../../../support/redis-fixture.js';
import { SwappingProxy } from '../../../support/swapping-proxy.js';

const BUILT = idsOf('built', 100);
const FILTERS = 8;
/** Two seconds on a machine that is not busy. */
const SEEN_WITHIN_MS = 15_000;

let fixture: RedisFixture;
beforeEach(async () => {
  fixture = await RedisFixture.start(['--repl-diskless-sync-delay', '0']);
});
afterEach(() => fixture.close());

type Filter = Instance['filter'];

async function severalOf(instance: Instance): Promise<Filter[]> {
  const names = Array.from({ length: FILTERS - 1 }, (_, index) => `other-${index}`);
  const filters = [instance.filter, ...names.map((name) => instance.store.open(openOptions({ name })))];
  for (const filter of filters) await build(filter, BUILT);
  return filters;
}

async function lookFor(ms: number, filters: readonly Filter[]): Promise<void> {
  for (const end = performance.now() + ms; performance.now() < end;) {
    await Promise.all(filters.map((filter) => filter.check(['built-1'])));
    await sleep(20);
  }
}

let readings = 0;

/** Calls of a command so far, by the server's own count; a reading is a call of `info` itself. */
async function callsOf(admin: Redis, command: string): Promise<number> {
  readings++;
  const stats = await admin.info('commandstats');
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
}

async function expectDisbelieved(filters: readonly Filter[]): Promise<void> {
  await eventually(
    'no filter answers from it',
    async () => {
      const answers = await Promise.all(filters.map((filter) => filter.check(['nobody'])));
      return answers.flat().every((verdict) => verdict === 'unknown');
    },
    SEEN_WITHIN_MS,
  );
}

describe('Which run of the server answers', () => {
  it('is asked once a second for all filters of a connection', async () => {
    const filters = await severalOf(await fixture.open('products'));
    await lookFor(1200, filters);
    const admin = fixture.client();
    const since = performance.now();
    readings = 0;
    const before = [await callsOf(admin, 'info'), await callsOf(admin, 'hgetall')];
    await eventually('each filter has looked twice', async () => {
      await lookFor(100, filters);
      return (await callsOf(admin, 'hgetall')) - before[1]! >= 2 * FILTERS;
    });
    const infos = (await callsOf(admin, 'info')) - before[0]! - (readings - 1);
    // Two sections at a time.
    expect(infos).toBeLessThanOrEqual(2 * ((performance.now() - since) / 1000 + 1));
    expect(infos).toBeGreaterThanOrEqual(2);
  });

  it('is seen by every filter before long when another one takes its place on an open connection', async () => {
    const second = await RedisFixture.start();
    const proxy = await SwappingProxy.open(fixture.server);
    try {
      const instance = await fixture.open('products', { redis: proxy.url });
      const filters = await severalOf(instance);
      const replica = second.client();
      await replica.replicaof(fixture.server.host, fixture.server.port);
      await eventually('the replica follows', async () =>
        (await replica.info('replication')).includes('master_link_status:up'),
      );
      await replica.replicaof('NO', 'ONE');
      await lookFor(1200, filters);
      proxy.swap(second.server);
      await expectDisbelieved(filters);
    } finally {
      await proxy.close();
      await second.close();
    }
  });

  it('a writable replica is left alone, whichever filter is looked at', async () => {
    const instance = await fixture.open('products');
    const filters = await severalOf(instance);
    await lookFor(1200, filters);
    const client = fixture.client();
    await client.config('SET', 'replica-read-only', 'no');
    await client.replicaof('127.0.0.1', 1);
    await expectDisbelieved(filters);
  });

  it('another generation is taken up by a filter that asks nothing of the server', async () => {
    const [one, other] = [await fixture.open('products'), await fixture.open('products')];
    const filters = await severalOf(one);
    await lookFor(1200, filters);
    await build(other.filter, ['else']);
    await eventually('it answers from that', async () => {
      const [added, removed] = await one.filter.check(['else', 'built-1']);
      return added === 'maybe' && removed === 'absent';
    });
  });
});
