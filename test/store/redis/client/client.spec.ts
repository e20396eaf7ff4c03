import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Cluster, Redis } from 'ioredis';
import { BloomConfigError } from '../../../../src/common/index.js';
import { build } from '../../../support/built-filter.js';
import { eventually } from '../../../support/eventually.js';
import { RedisFixture } from '../../../support/redis-fixture.js';
import { connected } from '../../../support/restarts.js';

let redis: RedisFixture;
let admin: Redis;
beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterAll(() => redis.close());

/** Connections to the server, without the one that asks. */
async function connections(): Promise<number> {
  return (
    String(await admin.client('LIST'))
      .trim()
      .split('\n').length - 1
  );
}

describe('A client that was handed over', () => {
  it('goes on working after the store was closed, without listeners of the store', async () => {
    const client = new Redis(redis.server.url);
    await client.ping();
    const listeners = () => client.eventNames().map((name) => [name, client.listenerCount(name)]);
    const before = listeners();
    const { close, filter } = await redis.open(redis.name(), { redis: client });
    await build(filter, ['a']);
    await close();
    expect(await client.ping()).toBe('PONG');
    expect(client.status).toBe('ready');
    expect(listeners()).toEqual(before);
    client.disconnect();
  });

  it('may connect lazily and serve several stores', async () => {
    const client = new Redis(redis.server.url, { lazyConnect: true });
    const name = redis.name();
    const one = await redis.open(name, { redis: client });
    const two = await redis.open(name, { redis: client });
    await build(one.filter, ['a']);
    expect(await two.filter.check(['a', 'x'])).toEqual(['maybe', 'absent']);
    await one.close();
    expect(await two.filter.check(['a'])).toEqual(['maybe']);
    client.disconnect();
  });

  it('may pipeline automatically, give numbers as text and use another database', async () => {
    const client = new Redis(redis.server.url, { enableAutoPipelining: true, stringNumbers: true, db: 3 });
    const { filter } = await redis.open(redis.name(), { redis: client });
    await build(filter, ['a']);
    expect(await filter.add(['b', 'a'])).toEqual([true, false]);
    const calls = await Promise.all([filter.check(['a']), filter.check(['x']), filter.add(['c'])]);
    expect(calls).toEqual([['maybe'], ['absent'], [true]]);
    expect(await filter.check(['c'])).toEqual(['maybe']);
    client.disconnect();
  });

  it('that reads from replicas is refused', async () => {
    const cluster = new Cluster([{ host: '127.0.0.1', port: redis.server.port }], {
      scaleReads: 'slave',
      lazyConnect: true,
    });
    await expect(redis.open('products', { redis: cluster })).rejects.toThrow(
      /scaleReads 'master', got 'slave'/,
    );
    await expect(redis.open('products', { redis: cluster })).rejects.toBeInstanceOf(BloomConfigError);
    cluster.disconnect();
  });

  it('of a Sentinel replica is refused', async () => {
    const client = new Redis({
      sentinels: [{ host: '127.0.0.1', port: 1 }],
      name: 'main',
      role: 'slave',
      lazyConnect: true,
    });
    await expect(redis.open('products', { redis: client })).rejects.toThrow(/role 'slave'/);
    client.disconnect();
  });
});

describe('A client that the store made', () => {
  it.each([
    ['a URL', () => redis.server.url],
    ['options', () => ({ host: '127.0.0.1', port: redis.server.port })],
  ])('of %s is closed with it', async (_, given) => {
    await eventually('those of other tests are gone', async () => (await connections()) === 0);
    const { close, filter } = await redis.open(redis.name(), { redis: given() });
    await build(filter, ['a']);
    expect(await connections()).toBe(1);
    await close();
    await eventually('the connection is gone', async () => (await connections()) === 0);
    expect(await filter.check(['a'])).toEqual(['unknown']);
    await expect(filter.add(['a'])).rejects.toThrow(/not connected/);
  });

  it('tells its errors as events, and connects when the server comes up', async () => {
    const late = await RedisFixture.start();
    await late.server.kill();
    const { filter, events, close } = await late.open('products');
    expect(await filter.check(['a'])).toEqual(['unknown']);
    await eventually('the error is told', () => events.some(({ type }) => type === 'connection-error'));
    await late.server.restart();
    await connected([filter]);
    await build(filter, ['a']);
    expect(await filter.check(['a', 'x'])).toEqual(['maybe', 'absent']);
    await close();
    await late.close();
  });
});
