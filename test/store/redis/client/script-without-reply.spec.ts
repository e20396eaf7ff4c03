import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Redis, type RedisOptions } from 'ioredis';
import { Socket } from 'node:net';
import type { BloomEvent } from '../../../../src/common/index.js';
import { IoredisClient } from '../../../../src/store/redis/client/ioredis-client.js';
import { Script } from '../../../../src/store/redis/client/script.js';
import { ScriptWithoutReply } from '../../../../src/store/redis/client/script-without-reply.js';
import { eventually } from '../../../support/eventually.js';
import { commandCounts, RedisFixture } from '../../../support/redis-fixture.js';
import { asUser } from '../../../support/restricted-user.js';
import { TcpProxy } from '../../../support/tcp-proxy.js';

/** Notes the largest number: to run it twice does no harm. */
const NOTE = new Script('note', "return redis.call('ZADD', KEYS[1], 'GT', ARGV[2], ARGV[1])");

let redis: RedisFixture;
let admin: Redis;
let proxy: TcpProxy;
const connections = async () => Number(/connected_clients:(\d+)/.exec(await admin.info('clients'))![1]);
beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
beforeEach(async () => {
  proxy = await TcpProxy.open(redis.server);
});
afterEach(async () => {
  await proxy.close();
  await eventually('the server has seen that the connections of the test are closed', async () => {
    return (await connections()) === 1;
  });
});
afterAll(() => redis.close());

class Sending {
  readonly events: BloomEvent[] = [];
  /** The server to which the client leads. */
  server = 'one';
  readonly silent: ScriptWithoutReply;
  private readonly client: Redis;
  private number = 0;
  /** Silent connections that ended. */
  lost = 0;

  constructor(
    private readonly key: string,
    options: RedisOptions = {},
  ) {
    this.client = new Redis({ port: proxy.port, lazyConnect: true, ...options });
    const emit = (event: BloomEvent) => void this.events.push(event);
    this.silent = new ScriptWithoutReply(
      new IoredisClient(this.client, false),
      NOTE,
      emit,
      () => this.server,
    );
    this.silent.use(this.onLost);
  }

  private readonly onLost = () => void this.lost++;

  /** Whether it is sent; the number in it. */
  send(): { isSent: boolean; number: number } {
    const number = ++this.number;
    return { isSent: this.silent.send([this.key], ['größe', number]), number };
  }

  /** Sends until that works; resolves with the number when the server has it. */
  async reach(): Promise<number> {
    let last = this.send();
    await eventually('it is sent', () => (last = this.send()).isSent);
    await eventually('it arrives', async () => (await this.noted()) === last.number);
    return last.number;
  }

  async noted(): Promise<number> {
    const prefix = this.client.options.keyPrefix ?? '';
    return Number(await admin.zscore(prefix + this.key, 'größe'));
  }

  /** The silent connection. */
  get socket(): Socket {
    const { side } = this.silent as unknown as { side: { present: { client: Redis } } };
    return side.present.client.stream as Socket;
  }

  stop(): void {
    this.silent.stop(this.onLost);
  }

  close(): void {
    this.silent.close();
    this.client.disconnect();
  }
}

describe('A script without replies', () => {
  it('is sent as soon as the server is silent', async () => {
    const before = await connections();
    const sending = new Sending(redis.name());
    expect(sending.send().isSent).toBe(false);
    const first = await sending.reach();
    // Two: the connection is there by now.
    const more = [sending.send(), sending.send()];
    expect(more.map(({ isSent }) => isSent)).toEqual([true, true]);
    await eventually('they arrive', async () => (await sending.noted()) === first + 2);
    expect(await connections()).toBe(before + 1);
    expect(sending.events).toEqual([]);
    sending.stop();
    await eventually('its connection is closed', async () => (await connections()) === before);
    sending.close();
    expect(sending.send().isSent).toBe(false);
    expect(await connections()).toBe(before);
    expect(sending.lost).toBe(0);
  });

  it('has keys and words of any letters, with the prefix of the client', async () => {
    const sending = new Sending(`größen ${redis.name()}`, { keyPrefix: 'läden:' });
    await sending.reach();
    sending.close();
  });

  it('is loaded, so that the server does not forget it', async () => {
    await admin.config('RESETSTAT');
    const sending = new Sending(redis.name());
    await sending.reach();
    expect((await commandCounts(admin))['script|load']).toBe(1);
    sending.close();
  });

  it('is sent by a user who may not load it', async () => {
    const { username, password } = await asUser(redis, admin, ['~*', '+@all', '-script|load']);
    const sending = new Sending(redis.name(), { username: username!, password: password! });
    await sending.reach();
    expect([sending.events, sending.silent.refusal]).toEqual([[], undefined]);
    sending.close();
  });

  it('is not sent while what was sent before is still on its way, and none of that is lost', async () => {
    const sending = new Sending(redis.name());
    await sending.reach();
    let last = sending.send();
    let sent = 0;
    for (; last.isSent && sent < 1_000_000; sent++) last = sending.send();
    expect([last.isSent, sent > 100]).toEqual([false, true]);
    await eventually('it arrives', async () => (await sending.noted()) === last.number - 1);
    expect(sending.send().isSent).toBe(true);
    expect([sending.events, sending.lost]).toEqual([[], 0]);
    sending.close();
  });

  it('has a connection that is probed after ten seconds, lest what is in between forgets it', async () => {
    const probing = jest.spyOn(Socket.prototype, 'setKeepAlive');
    const sending = new Sending(redis.name());
    await sending.reach();
    expect(probing.mock.calls.filter((_, i) => probing.mock.contexts[i] === sending.socket)).toEqual([
      [true, 10_000],
    ]);
    probing.mockRestore();
    sending.close();
  });

  it('has another connection when one is not answered for ten seconds, which is reported', async () => {
    proxy.hold();
    const sending = new Sending(redis.name());
    expect(sending.send().isSent).toBe(false);
    expect(sending.send().isSent).toBe(false);
    expect(sending.events).toEqual([]);
    const now = performance.now.bind(performance);
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + 10_001);
    expect(sending.send().isSent).toBe(false);
    expect(sending.events).toEqual([{ type: 'connection-error', error: expect.any(Error) }]);
    expect(String((sending.events[0] as { error: unknown }).error)).toContain('10000 ms');
    proxy.release();
    await sending.reach();
    clock.mockRestore();
    expect(sending.events).toHaveLength(1);
    sending.close();
  });

  it('is sent to the server to which the client leads by now', async () => {
    const sending = new Sending(redis.name());
    await sending.reach();
    sending.server = 'other';
    expect(sending.send().isSent).toBe(false);
    expect(sending.lost).toBe(1);
    await sending.reach();
    expect(sending.events).toEqual([]);
    sending.close();
  });

  it('is sent again after its connection was cut, which is reported once', async () => {
    const sending = new Sending(redis.name());
    await sending.reach();
    proxy.cut();
    await eventually('it is known to be lost', () => sending.lost === 1);
    expect(sending.send().isSent).toBe(false);
    await eventually('that is reported', () => sending.send() && sending.events.length > 0);
    proxy.mend();
    await sending.reach();
    expect(sending.events).toEqual([{ type: 'connection-error', error: expect.anything() }]);
    sending.close();
  });

  it('is not sent for a minute after it has not arrived, which is reported', async () => {
    const before = await connections();
    const sending = new Sending(redis.name());
    await sending.reach();
    sending.silent.missed();
    sending.silent.missed();
    expect(sending.lost).toBe(1);
    expect(sending.events).toEqual([{ type: 'connection-error', error: expect.any(Error) }]);
    await eventually('its connection is closed', async () => (await connections()) === before);
    expect(sending.send().isSent).toBe(false);
    expect(await connections()).toBe(before);
    sending.close();
  });

  it('is not sent by a user who may not do without replies, who is told why', async () => {
    const { username, password } = await asUser(redis, admin, ['~*', '+@all', '-client|reply']);
    const sending = new Sending(redis.name(), { username: username!, password: password! });
    await eventually('it is refused', () => {
      expect(sending.send().isSent).toBe(false);
      return sending.silent.refusal !== undefined;
    });
    expect(sending.silent.refusal).toContain('NOPERM');
    expect(sending.events).toEqual([]);
    sending.close();
  });

  it('is not sent where it fails, which is left to others to report', async () => {
    const key = redis.name();
    await admin.set(key, 'no sorted set');
    const before = Number((await commandCounts(admin))['eval'] ?? 0);
    const sending = new Sending(key);
    await eventually('it has failed', async () => {
      expect(sending.send().isSent).toBe(false);
      return Number((await commandCounts(admin))['eval'] ?? 0) > before;
    });
    expect(sending.send().isSent).toBe(false);
    expect([sending.events, sending.silent.refusal]).toEqual([[], undefined]);
    sending.close();
  });

  it('is not sent to a server that replies although it was told not to', async () => {
    const sending = new Sending(redis.name());
    await sending.reach();
    // What stands in between may do so.
    sending.socket.write('*3\r\n$6\r\nCLIENT\r\n$5\r\nREPLY\r\n$2\r\nON\r\n');
    await eventually('that is noticed', () => sending.silent.refusal !== undefined);
    expect(sending.send().isSent).toBe(false);
    expect([sending.events, sending.silent.refusal, sending.lost]).toEqual([[], '+OK', 1]);
    sending.close();
  });

  it('waits until the client is connected', async () => {
    const before = await connections();
    const sending = new Sending(redis.name(), { lazyConnect: false });
    expect(sending.send().isSent).toBe(false);
    await eventually('the client is connected', async () => (await connections()) === before + 1);
    await sending.reach();
    expect(await connections()).toBe(before + 2);
    sending.close();
  });
});
