import { describe, expect, it } from '@jest/globals';
import type { BloomFilter } from 'nestjs-bloom';
import { eventually } from '../../../../test/support/eventually.js';
import { type FedTable, PostgresFeedFixture } from '../../../../test/support/postgres-feed-fixture.js';
import { TcpProxy } from '../../../../test/support/tcp-proxy.js';
import { outsideKey } from '../../../../test/support/outside-key.js';

const site = PostgresFeedFixture.ofFile();

const isAdded = (filter: BloomFilter, id: string) =>
  eventually(`${id} is added`, async () => (await filter.check(id)) === 'maybe');

const gapsOf = () => site.events.flatMap((event) => (event.type === 'feed-gap' ? [event.reason] : []));

/** A filter that was fed, and is not followed now. */
async function fedBefore(): Promise<FedTable> {
  const made = await site.table();
  await site.hasBegun(await site.feed(made));
  await site.forget();
  return made;
}

describe('A gap of postgresFeed', () => {
  it('is found where somebody reads from the slot after it was looked at', async () => {
    const made = await fedBefore();
    const { hostname, port, pathname } = new URL(site.server.url);
    const proxy = await TcpProxy.open({ host: hostname, port: Number(port) });
    try {
      proxy.holdOnly('START_REPLICATION');
      const connection = `postgres://test@127.0.0.1:${proxy.port}${pathname}?application_name=late`;
      const filter = await site.feed(made, { connection });
      const asks = `select 1 from pg_stat_activity where backend_type = 'walsender' and application_name = 'late'`;
      await eventually('the slot was looked at', async () => (await site.database.query(asks)).rowCount! > 0);
      await site.insert(made, 'taken');
      await site.readToEnd(made);
      proxy.release();
      await isAdded(filter, 'taken');
      expect(gapsOf()).toEqual([expect.stringContaining('another program')]);
    } finally {
      await proxy.close();
    }
  });

  it('is found where the place that was noted is one of another server', async () => {
    const made = await fedBefore();
    await site.insert(made, 'taken');
    await site.readToEnd(made);
    const key = await outsideKey(site.redis.client(), made.filter);
    const [, server] = (await site.redis.client().hget(key, 'position'))!.split(' ');
    expect(server).toMatch(/^\d+-1$/);
    // As of a primary that had come further than the standby that has taken over.
    await site.redis.client().hset(key, 'position', `FFFFFFFF/0 ${server!.replace(/1$/, '2')}`);
    const filter = await site.feed(made);
    await isAdded(filter, 'taken');
    expect(gapsOf()).toEqual([expect.stringContaining('another server')]);
  });
});
