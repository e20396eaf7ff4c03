import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import type { RedisClient, RedisClientEvents, RedisExtraConnection } from '../../src/store/index.js';
import type { BloomRedis } from '../../src/store/redis/index.js';
import { openRedis } from '../../src/store/redis/client/redis-option.js';
import { eventually } from './eventually.js';
import { describeFilters } from './filters-on-client.js';
import { RedisFixture } from './redis-fixture.js';
import { TcpProxy } from './tcp-proxy.js';

/** What a client of Redis has to keep, on a real server: the client alone, and filters on it. */
export function describeRedisClient(
  name: string,
  redisAt: (url: string) => BloomRedis,
  { isCluster = false } = {},
): void {
  const start = () => (isCluster ? RedisFixture.startCluster() : RedisFixture.start());
  const site = { redisAt, start, isCluster };
  describe(`The client ${name}`, () => describeClient(site));
  describe(`Filters on ${name}`, () => describeFilters(site));
}

/** Servers, and the client that is tested on them. */
export interface TestedClient {
  redisAt(url: string): BloomRedis;
  start(): Promise<RedisFixture>;
  readonly isCluster: boolean;
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

function describeClient({ redisAt, start, isCluster }: TestedClient): void {
  let redis: RedisFixture;
  let admin: Redis;
  let proxy: TcpProxy;
  let opened: Opened;
  let client: RedisClient;
  beforeAll(async () => {
    redis = await start();
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
    for (const key of ['a:1', 'a:2', 'b']) await client.command('SET', key, ['']);
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

  it('may be closed while it connects', async () => {
    proxy.hold();
    void opened.get('key').catch(() => {});
    client.close();
    proxy.release();
    await expect(opened.get('key')).rejects.toThrow();
  });

  // Nodes of a cluster that are masters no more say who is.
  if (isCluster) return;

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
      open(2000);
      await extra.call('PING');
      proxy.hold();
      await expect(extra.call('PING')).rejects.toThrow();
      await eventually('it has ended', () => ended > 0);
      proxy.release();
    });
  });
}
