import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { build, idsOf } from '../../../support/built-filter.js';
import { eventually } from '../../../support/eventually.js';
import { openOptions } from '../../../support/open-options.js';
import { type Instance, RedisFixture } from '../../../support/redis-fixture.js';
import { SwappingProxy } from '../../../support/swapping-proxy.js';

const BUILT = idsOf('built', 100);
const FILTERS = 8;

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

/** Calls of a command so far, by the server's own count. */
async function callsOf(command: string): Promise<number> {
  const stats = await fixture.client().info('commandstats');
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
}

describe('Which run of the server answers', () => {
  it('is asked once a second for all filters of a connection', async () => {
    const filters = await severalOf(await fixture.open('products'));
    await lookFor(1200, filters);
    const before = [await callsOf('info'), await callsOf('hgetall')];
    await lookFor(3000, filters);
    const [infos, looks] = [(await callsOf('info')) - before[0]!, (await callsOf('hgetall')) - before[1]!];
    expect(looks).toBeGreaterThanOrEqual(2 * FILTERS);
    // Two sections at a time, and one for each of the two readings here.
    expect(infos).toBeLessThanOrEqual(2 * 4 + 2);
    expect(infos).toBeGreaterThanOrEqual(2 * 2);
  });

  it('is seen by every filter within two seconds when another one takes its place on an open connection', async () => {
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
      await lookFor(2200, filters);
      const answers = await Promise.all(filters.map((filter) => filter.check(['nobody'])));
      expect(answers.flat()).toEqual(filters.map(() => 'unknown'));
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
    await lookFor(2200, filters);
    const answers = await Promise.all(filters.map((filter) => filter.check(['nobody'])));
    expect(answers.flat()).toEqual(filters.map(() => 'unknown'));
  });

  it('another generation is taken up by a filter that asks nothing of the server', async () => {
    const [one, other] = [await fixture.open('products'), await fixture.open('products')];
    const filters = await severalOf(one);
    await lookFor(1200, filters);
    await build(other.filter, ['else']);
    await lookFor(1500, filters);
    expect(await one.filter.check(['else', 'built-1'])).toEqual(['maybe', 'absent']);
  });
});
