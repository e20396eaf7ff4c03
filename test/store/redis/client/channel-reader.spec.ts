import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type AddressInfo, createServer } from 'node:net';
import { Redis } from 'ioredis';
import type { BloomEvent } from '../../../../src/common/index.js';
import { ChannelReader } from '../../../../src/store/redis/client/channel-reader.js';
import { IoredisClient } from '../../../../src/store/redis/client/ioredis-client.js';
import { eventually } from '../../../support/eventually.js';
import { RedisFixture } from '../../../support/redis-fixture.js';
import { TcpProxy } from '../../../support/tcp-proxy.js';

let redis: RedisFixture;
let proxy: TcpProxy;
beforeAll(async () => {
  redis = await RedisFixture.start();
});
beforeEach(async () => {
  proxy = await TcpProxy.open(redis.server);
});
afterEach(() => proxy.close());
afterAll(() => redis.close());

/** A listener to one channel that is called again and again, as by renewals of a lease. */
class Listening {
  readonly events: BloomEvent[] = [];
  heard = 0;
  lost = 0;
  refused = 0;
  private readonly client: Redis;
  private readonly reader: ChannelReader;

  constructor(port: number, user: { username?: string; password?: string } = {}) {
    this.client = new Redis({ port, lazyConnect: true, ...user });
    this.reader = new ChannelReader(
      new IoredisClient(this.client, false),
      (event) => this.events.push(event),
      () => '',
    );
    this.reader.listen('feed', {
      onMessage() {},
      onHeard: () => this.heard++,
      onLost: () => this.lost++,
      onRefused: () => this.refused++,
    });
  }

  until(what: string, holds: () => boolean): Promise<void> {
    return eventually(what, () => {
      this.reader.keep();
      return holds();
    });
  }

  /** More connections fail than one. */
  async fail(): Promise<void> {
    const before = this.lost;
    await this.until('connections failed', () => this.lost >= before + 2);
  }

  async hear(): Promise<void> {
    const before = this.heard;
    await this.until('it listens', () => this.heard > before);
  }

  close(): void {
    this.reader.close();
    this.client.disconnect();
  }
}

describe('A reader of channels', () => {
  it('reports once that its connections fail, and again after one has worked', async () => {
    proxy.cut();
    const listening = new Listening(proxy.port);
    await listening.fail();
    const once = [{ type: 'connection-error', error: expect.anything() }];
    expect(listening.events).toEqual(once);
    proxy.mend();
    await listening.hear();
    expect(listening.events).toEqual(once);
    proxy.cut();
    await listening.fail();
    expect(listening.events).toEqual([...once, ...once]);
    listening.close();
  });

  it('reports connections that end before they answer, without an error of their own', async () => {
    const door = createServer((socket) => socket.on('error', () => {}).end());
    await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
    const listening = new Listening((door.address() as AddressInfo).port);
    await listening.fail();
    expect(listening.events).toEqual([{ type: 'connection-error', error: expect.anything() }]);
    listening.close();
    door.close();
  });

  it('reports no refusal, which its listener gets', async () => {
    await redis.client().call('ACL', 'SETUSER', 'mute', 'on', '>secret', '~*', 'resetchannels', '+@all');
    const listening = new Listening(redis.server.port, { username: 'mute', password: 'secret' });
    await listening.until('the refusal came', () => listening.refused === 1);
    // Nor that there was no answer: this is one.
    const now = performance.now.bind(performance);
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + 10_001);
    await listening.until('it is kept', () => true);
    clock.mockRestore();
    listening.close();
    expect([listening.events, listening.refused]).toEqual([[], 1]);
  });

  it('reports nothing of a connection that it closes', async () => {
    proxy.hold();
    const listening = new Listening(proxy.port);
    listening.close();
    const other = new Listening(redis.server.port);
    await other.hear();
    other.close();
    expect([listening.events, other.events]).toEqual([[], []]);
  });
});
