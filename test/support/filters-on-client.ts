import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { RedisStore } from '../../src/store/redis/index.js';
import { LocalCopyStore } from '../../src/store/local-copy/index.js';
import { describeStoreContract } from '../store/contract/store-contract.js';
import { build } from './built-filter.js';
import { eventually } from './eventually.js';
import { openOptions } from './open-options.js';
import { PATIENT } from './patience.js';
import type { TestedClient } from './redis-client-contract.js';
import { commandCounts, type RedisFixture } from './redis-fixture.js';
import { connected } from './restarts.js';
import type { TcpProxy } from './tcp-proxy.js';

/** What filters need of a client of Redis, on a real server. */
export function describeFilters({ redisAt, start, isCluster }: TestedClient): void {
  let redis: RedisFixture;
  let proxy: TcpProxy;
  beforeAll(async () => {
    redis = await start();
    proxy = await redis.openProxy();
  });
  afterAll(() => redis.close());

  describeStoreContract('RedisStore', async () => {
    const { filter } = await redis.open(redis.name(), { redis: redisAt(redis.server.url) });
    return filter;
  });

  it('send a check as one GETRANGE, and checks of a tick as one script', async () => {
    const { filter } = await redis.open(redis.name(), { redis: redisAt(redis.server.url) });
    const admin = redis.client();
    await build(filter, ['a']);
    await filter.check(['a']);
    await admin.config('RESETSTAT');
    expect(await filter.check(['a'])).toEqual(['maybe']);
    expect(await commandCounts(admin)).toMatchObject({ getrange: 1 });
    await Promise.all([filter.check(['a']), filter.check(['b'])]);
    expect(await commandCounts(admin)).toMatchObject({ evalsha: expect.any(Number) });
  });

  it('answer unknown while the server is away, and what they knew when it is back', async () => {
    const { filter, close } = await redis.open(redis.name(), {
      redis: redisAt(proxy.url),
      timeoutMs: 300,
      writeTimeoutMs: 2000,
    });
    await build(filter, ['a']);
    expect(await filter.add(['b'])).toEqual([true]);
    proxy.cut();
    expect(await filter.check(['a'])).not.toEqual(['absent']);
    await expect(filter.add(['c'])).rejects.toThrow();
    proxy.mend();
    await connected([filter]);
    await eventually('it knows', async () => (await filter.check(['x']))[0] === 'absent');
    expect(await filter.check(['a', 'b'])).toEqual(['maybe', 'maybe']);
    await close();
  });

  it('are lost with the data of a server that was killed, and built again', async () => {
    const own = await start();
    const { filter, close } = await own.open('products', { redis: redisAt(own.server.url) });
    await build(filter, ['a']);
    await own.server.kill();
    expect(await filter.check(['a'])).toEqual(['unknown']);
    await own.server.restart();
    await connected([filter]);
    expect(await filter.check(['a'])).toEqual(['unknown']);
    await build(filter, ['a']);
    expect(await filter.check(['a', 'x'])).toEqual(['maybe', 'absent']);
    await close();
    await own.close();
  });

  it('of two stores share no connection, and each closes its own', async () => {
    const given = redisAt(redis.server.url);
    const stores = await Promise.all(
      [1, 2].map(() =>
        RedisStore.connect({
          redis: given,
          keyPrefix: 'bloom',
          trustAfterFailover: false,
          ...PATIENT,
          emit() {},
        }),
      ),
    );
    const name = redis.name();
    const [one, two] = stores.map((store) => store.open(openOptions({ name })));
    await build(one!, ['a']);
    await stores[0]!.close();
    expect(await two!.check(['a'])).toEqual(['maybe']);
    await stores[1]!.close();
  });

  if (isCluster) return;

  it('read a leased copy at once, and know an id when its add has resolved', async () => {
    const name = redis.name();
    const given = { redis: redisAt(redis.server.url) };
    const { filter: adder } = await redis.open(name, given, { leaseMs: 60_000, drainMs: 0 });
    await build(adder, ['a']);
    const { store } = await redis.open(name, given);
    const reader = new LocalCopyStore(store).open(
      openOptions({ name, replica: 'leased', leaseMs: 60_000, drainMs: 0 }),
    );
    await eventually('the copy is leased', async () => {
      await reader.check(['nobody']);
      return reader.copyLease?.isLeased === true;
    });
    expect(reader.checkOne('nobody')).toBe('absent');
    for (let i = 0; i < 50; i++) {
      await adder.add([`late-${i}`]);
      expect(reader.checkOne(`late-${i}`)).toBe('maybe');
    }
    await reader.close();
  });
}
