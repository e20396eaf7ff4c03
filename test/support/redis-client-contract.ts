import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import type { RedisClient, RedisClientEvents, RedisExtraConnection } from '../../src/store/index.js';
import { type BloomRedis, RedisStore } from '../../src/store/redis/index.js';
import { LocalCopyStore } from '../../src/store/local-copy/index.js';
import { openRedis } from '../../src/store/redis/client/redis-option.js';
import { describeStoreContract } from '../store/contract/store-contract.js';
import { build } from './built-filter.js';
import { eventually } from './eventually.js';
import { openOptions } from './open-options.js';
import { PATIENT } from './patience.js';
import { commandCounts, RedisFixture } from './redis-fixture.js';
import { connected } from './restarts.js';
import { TcpProxy } from './tcp-proxy.js';

/** Whoever brings a client of Redis runs these: the client alone, and filters on it, on a real server. */
export function describeRedisClient(name: string, redisAt: (url: string) => BloomRedis): void {
  describe(`The client ${name}`, () => describeClient(redisAt));
  describe(`Filters on ${name}`, () => describeFilters(redisAt));
}

/** A client that the test opened, and what it reported. */
class Opened {
  ended = 0;
  readonly errors: unknown[] = [];

  private constructor(readonly client: RedisClient) {}

  static async at(redis: BloomRedis): Promise<Opened> {
    const opened = new Opened(await openRedis(redis, 1000));
    opened.client.listen({
      onEnded: () => opened.ended++,
      onSlots() {},
      onError: (error) => opened.errors.push(error),
    } satisfies RedisClientEvents);
    return opened;
  }

  get(key: string): Promise<unknown> {
    return this.client.command('GET', key, []);
  }

  async untilSent(): Promise<void> {
    await eventually('commands are sent', () => this.client.disconnected === undefined);
  }
}

function describeClient(redisAt: (url: string) => BloomRedis): void {
  let redis: RedisFixture;
  let admin: Redis;
  let proxy: TcpProxy;
  let opened: Opened;
  let client: RedisClient;
  beforeAll(async () => {
    redis = await RedisFixture.start();
    admin = redis.client();
  });
  beforeEach(async () => {
    await admin.flushall();
    proxy = await TcpProxy.open(redis.server);
    opened = await Opened.at(redisAt(proxy.url));
    ({ client } = opened);
  });
  afterEach(async () => {
    client.close();
    await proxy.close();
    await eventually('only the connection of the test is left', async () =>
      /connected_clients:1\r/.test(await admin.info('clients')),
    );
  });
  afterAll(() => redis.close());

  const bytes = Buffer.from([0, 0xff, 0x0d, 0x0a, 0xc3, 0x28]);

  it('gives bytes as they are', async () => {
    await admin.set('key', bytes);
    expect(await client.getRange('key', 1, 4)).toEqual(bytes.subarray(1, 5));
    expect(await client.getRange('other', 0, 9)).toEqual(Buffer.alloc(0));
    const echo = 'return {KEYS[1], ARGV[1], tonumber(ARGV[2]), {ARGV[1]}, false}';
    expect(await client.eval(echo, ['key'], [bytes, 7])).toEqual([
      Buffer.from('key'),
      bytes,
      7,
      [bytes],
      null,
    ]);
  });

  it('rejects with the error of the server', async () => {
    const sha1 = '0'.repeat(40);
    await expect(client.evalsha(sha1, ['key'], [])).rejects.toThrow(/^NOSCRIPT /);
    await expect(client.command('NOSUCH', 'key', [])).rejects.toThrow(/unknown command/);
    await admin.set('key', 'text');
    await expect(client.command('HGETALL', 'key', [])).rejects.toThrow(/^WRONGTYPE /);
  });

  it('runs a script by its digest once the server has it', async () => {
    const sha1 = String(await admin.script('LOAD', 'return ARGV[1]'));
    expect(String(await client.evalsha(sha1, ['key'], ['a']))).toBe('a');
  });

  it('runs commands in the order in which they were given, in a tick', async () => {
    const set = client.command('SET', 'key', ['one']);
    const read = client.getRange('key', 0, -1);
    const other = client.command('SET', 'key', ['two']);
    expect([await set, String(await read), await other].map(String)).toEqual(['OK', 'one', 'OK']);
  });

  it('finds keys of any master', async () => {
    await admin.mset('a:1', '1', 'a:2', '2', 'b', '3');
    const found: string[] = [];
    for (const call of client.masters()) {
      const [, keys] = (await call('SCAN', '0', 'MATCH', 'a:*', 'COUNT', 1000)) as [unknown, unknown[]];
      found.push(...keys.map(String));
    }
    expect(found.toSorted()).toEqual(['a:1', 'a:2']);
  });

  it('reports that a connection has ended before a reply of the next one, and settles what was on its way', async () => {
    await client.command('SET', 'key', ['value']);
    expect(opened.ended).toBe(0);
    proxy.hold();
    let endedBefore: number | undefined;
    const settled = opened.get('key').then(
      () => (endedBefore = opened.ended),
      () => (endedBefore = opened.ended),
    );
    proxy.cut();
    proxy.release();
    await eventually('it was reported', () => opened.ended > 0);
    await eventually('nothing is sent', () => client.disconnected !== undefined);
    proxy.mend();
    await opened.untilSent();
    expect(String(await opened.get('key'))).toBe('value');
    await settled;
    expect(endedBefore).toBeGreaterThan(0);
  });

  it('connects again when the server was stopped, and while it was, says so', async () => {
    await client.command('SET', 'key', ['value']);
    proxy.cut();
    await eventually('nothing is sent', () => client.disconnected !== undefined);
    expect(client.isSettled).toBe(false);
    await eventually('it reports the errors of its own connections', () => opened.errors.length > 0);
    proxy.mend();
    await opened.untilSent();
    expect(String(await opened.get('key'))).toBe('value');
    expect(client.isSettled).toBe(true);
  });

  it('connects to a server that comes later', async () => {
    proxy.cut();
    await opened.get('key').catch(() => {});
    proxy.mend();
    await eventually('it is answered', () =>
      opened.get('key').then(
        (reply) => reply === null,
        () => false,
      ),
    );
  });

  it('leaves a server that answers nothing any more', async () => {
    client.close();
    opened = await Opened.at(redisAt(proxy.url));
    ({ client } = opened);
    await opened.get('key');
    proxy.hold();
    void opened.get('key').catch(() => {});
    await eventually('the connection was given up', () => opened.ended > 0);
    proxy.release();
    await eventually('it is answered', () =>
      opened.get('key').then(
        () => true,
        () => false,
      ),
    );
  });

  it('opens its connection again when it is told to', async () => {
    expect(client.reconnect?.()).toBe(false);
    await opened.get('key');
    const id = () => client.masters()[0]!('CLIENT', 'ID');
    const before = await id();
    expect(client.reconnect!()).toBe(true);
    await eventually('it was reported', () => opened.ended > 0);
    await opened.untilSent();
    expect(await id()).not.toBe(before);
  });

  it('may be closed while it connects', async () => {
    proxy.hold();
    void opened.get('key').catch(() => {});
    client.close();
    proxy.release();
    await expect(opened.get('key')).rejects.toThrow();
  });

  describe('opens a connection', () => {
    let extra: RedisExtraConnection;
    let ended: number;
    const open = (silentMs?: number) => {
      ended = 0;
      extra = client.openExtra!({ onError() {}, onEnded: () => ended++ }, silentMs);
    };
    afterEach(() => extra.close());

    it('that reads streams and waits', async () => {
      open();
      const read = extra.call('XREAD', 'BLOCK', 0, 'STREAMS', 'feed', '0-0');
      await client.command('XADD', 'feed', ['1-0', 'bytes', bytes]);
      const entry = [Buffer.from('1-0'), [Buffer.from('bytes'), bytes]];
      expect(await read).toEqual([[Buffer.from('feed'), [entry]]]);
      expect(await extra.call('XREAD', 'BLOCK', 1, 'STREAMS', 'feed', '1-0')).toBeNull();
    });

    it('that hears messages, each once, until it listens no more', async () => {
      open();
      expect(String(await extra.call('INFO', 'server'))).toMatch(/^run_id:\w{40}/m);
      const heard: Buffer[] = [];
      await extra.subscribe('channel', () => heard.push(Buffer.from('the listener before')));
      await extra.subscribe('channel', (message) => heard.push(message));
      await admin.publish('channel', bytes);
      await eventually('the message came', () => heard.length > 0);
      await extra.unsubscribe('channel');
      expect(await admin.publish('channel', bytes)).toBe(0);
      expect(heard).toEqual([bytes]);
    });

    it('that says when it may not listen', async () => {
      await admin.acl('SETUSER', 'default', 'resetchannels');
      open();
      await expect(extra.subscribe('channel', () => {})).rejects.toThrow(/NOPERM|No permissions/i);
      await admin.acl('SETUSER', 'default', 'allchannels');
    });

    it('that ends once, and rejects what waits', async () => {
      open();
      await extra.call('PING');
      const waits = expect(extra.call('XREAD', 'BLOCK', 0, 'STREAMS', 'feed', '0-0')).rejects.toThrow();
      proxy.disconnect();
      await waits;
      await eventually('it has ended', () => ended > 0);
      await expect(extra.call('PING')).rejects.toThrow();
    });

    it('that ends where no server is', async () => {
      proxy.cut();
      open();
      await expect(extra.call('PING')).rejects.toThrow();
      await eventually('it has ended', () => ended > 0);
    });

    it('that ends when nothing comes', async () => {
      open(300);
      await extra.call('PING');
      proxy.hold();
      await expect(extra.call('PING')).rejects.toThrow();
      await eventually('it has ended', () => ended > 0);
      proxy.release();
    });
  });
}

function describeFilters(redisAt: (url: string) => BloomRedis): void {
  let redis: RedisFixture;
  let proxy: TcpProxy;
  beforeAll(async () => {
    redis = await RedisFixture.start();
    proxy = await TcpProxy.open(redis.server);
  });
  afterAll(async () => {
    await redis.close();
    await proxy.close();
  });

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
    const own = await RedisFixture.start();
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
}
