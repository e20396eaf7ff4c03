import { afterAll, describe, expect } from '@jest/globals';
import { Redis } from 'ioredis';
import type { BloomRedis } from '../../../../src/store/redis/index.js';
import { build, idsOf } from '../../../support/built-filter.js';
import { eventually } from '../../../support/eventually.js';
import { expectFound } from '../../../support/never-absent.js';
import { PATIENT } from '../../../support/patience.js';
import { type Instance, RedisFixture } from '../../../support/redis-fixture.js';
import { sideBySide } from '../../../support/side-by-side.js';
import { TcpProxy } from '../../../support/tcp-proxy.js';

const BUILT = idsOf('built', 100);
/** Below what a client of Redis waits on its own, and far above what a machine that is not busy takes. */
const BACK_WITHIN_MS = 60_000;

const grounds: Ground[] = [];
afterAll(() => Promise.all(grounds.map((ground) => ground.close())));

/** A server, one that is to take over, and the address of whichever is the master. */
class Ground {
  private readonly clients: Redis[] = [];

  private constructor(
    readonly first: RedisFixture,
    readonly second: RedisFixture,
    readonly address: TcpProxy,
  ) {}

  static async open(): Promise<Ground> {
    const diskless = ['--repl-diskless-sync-delay', '0'];
    const [first, second] = await Promise.all([RedisFixture.start(diskless), RedisFixture.start(diskless)]);
    const ground = new Ground(first, second, await TcpProxy.open(first.server));
    grounds.push(ground);
    return ground;
  }

  get options() {
    return { host: '127.0.0.1', port: this.address.port };
  }

  clientWith(more: object): Redis {
    const client = new Redis({ ...this.options, ...more });
    client.on('error', () => {});
    this.clients.push(client);
    return client;
  }

  /** A process whose filter is built on the first server, which the second one replicates. */
  async started(redis: BloomRedis = this.address.url, trustAfterFailover = true): Promise<Instance> {
    const { first, second } = this;
    const one = await first.open('products', {
      redis,
      trustAfterFailover,
      ...PATIENT,
    });
    await build(one.filter, BUILT);
    const replica = second.client();
    await replica.replicaof(first.server.host, first.server.port);
    await eventually('the replica follows', async () =>
      (await replica.info('replication')).includes('master_link_status:up'),
    );
    await first.client().wait(1, 5000);
    return one;
  }

  /** The second server takes over; connections to the first one stay open. */
  async failOver(): Promise<void> {
    await this.second.client().replicaof('NO', 'ONE');
    await this.first.client().replicaof(this.second.server.host, this.second.server.port);
  }

  moveAddress(): void {
    this.address.target = this.second.server;
  }

  async close(): Promise<void> {
    for (const client of this.clients) client.disconnect();
    await this.address.close();
    await Promise.all([this.first.close(), this.second.close()]);
  }
}

const together = sideBySide();

const isProtected = async ({ filter }: Instance) => (await filter.check(['nobody']))[0] === 'absent';

async function expectProtectedAgain(one: Instance): Promise<void> {
  await eventually('the filter protects again', () => isProtected(one), BACK_WITHIN_MS);
  expect(await one.filter.add(['late'])).toEqual([true]);
  await expectFound([one.filter], [...BUILT, 'late']);
}

describe('When the master becomes a replica and its address leads to the new one, while connections stay open', () => {
  const reconnectOnError = (error: Error) => (error.message.includes('READONLY') ? 2 : false);

  const connections: Record<string, (ground: Ground) => BloomRedis> = {
    'a URL': ({ address }) => address.url,
    options: ({ options }) => options,
    'options with reconnectOnError': ({ options }) => ({ ...options, reconnectOnError }),
    'options with automatic pipelines': ({ options }) => ({ ...options, enableAutoPipelining: true }),
    'a client that reconnects on READONLY': (ground) => ground.clientWith({ reconnectOnError }),
  };
  for (const [what, redis] of Object.entries(connections)) {
    together(`${what}: who only looks up is protected again`, async () => {
      const ground = await Ground.open();
      const one = await ground.started(redis(ground));
      await ground.failOver();
      ground.moveAddress();
      await expectProtectedAgain(one);
      expect(one.events.filter(({ type }) => type === 'advice')).toEqual([]);
    });
  }

  together('who only adds can add again', async () => {
    const ground = await Ground.open();
    const one = await ground.started();
    await ground.failOver();
    ground.moveAddress();
    const added = () =>
      one.filter.add(['late']).then(
        () => true,
        () => false,
      );
    await eventually('the add is acknowledged', added, BACK_WITHIN_MS);
    await expectFound([one.filter], ['late']);
    await eventually('the filter protects', () => isProtected(one));
  });

  together('what the new one may have lost is not denied', async () => {
    const ground = await Ground.open();
    const one = await ground.started(ground.address.url, false);
    await ground.failOver();
    ground.moveAddress();
    await eventually('the filter is suspect', async () => {
      const { state } = await one.filter.describe().catch(() => ({ state: 'unknown' }));
      return state === 'suspect';
    });
    expect(await one.filter.check(['nobody'])).toEqual(['unknown']);
    await build(one.filter, BUILT);
    await expectProtectedAgain(one);
  });

  together(
    'also when the address moves seconds later; until then it connects about once a second',
    async () => {
      const ground = await Ground.open();
      const one = await ground.started();
      await ground.failOver();
      const opened = () => one.events.filter(({ type }) => type === 'connection-error').length;
      const asking = setInterval(() => void one.filter.check(['nobody']), 5);
      const since = performance.now();
      await eventually('it connects again and again', () => opened() >= 3);
      expect(opened()).toBeLessThanOrEqual((performance.now() - since) / 1000 + 2);
      clearInterval(asking);
      ground.moveAddress();
      await expectProtectedAgain(one);
    },
  );

  together('also for a user who may not ask the server what it is', async () => {
    const ground = await Ground.open();
    for (const redis of [ground.first, ground.second])
      await redis.client().call('ACL', 'SETUSER', 'app', 'on', '>secret', '~*', '+@all', '-info');
    const one = await ground.started({
      ...ground.options,
      username: 'app',
      password: 'secret',
      enableReadyCheck: false,
    });
    await ground.failOver();
    ground.moveAddress();
    await expectProtectedAgain(one);
  });

  together('a client of the application keeps its connection, and its owner gets one advice', async () => {
    const ground = await Ground.open();
    const client = ground.clientWith({});
    const one = await ground.started(client);
    await ground.failOver();
    ground.moveAddress();
    const advice = () => one.events.flatMap((event) => (event.type === 'advice' ? [event.text] : []));
    await eventually('the replica is not believed', async () => {
      // A lookup that has no answer in time is unknown too.
      return !(await isProtected(one)) && advice().length > 0;
    });
    for (let i = 0; i < 20; i++) expect(await one.filter.check(['nobody'])).toEqual(['unknown']);
    expect(advice()).toEqual([
      expect.stringContaining("reconnectOnError: (e) => (e.message.includes('READONLY')"),
    ]);
    client.disconnect(true);
    await expectProtectedAgain(one);
  });
});

describe('When the master no longer answers and its address leads to the new one', () => {
  together('a connection that hangs is left', async () => {
    const ground = await Ground.open();
    const one = await ground.started();
    await ground.first.server.kill('SIGSTOP');
    await ground.second.client().replicaof('NO', 'ONE');
    ground.moveAddress();
    await expectProtectedAgain(one);
  });

  together(
    'a connection to a server that loads its data for long is left, also when it was opened meanwhile',
    async () => {
      const ground = await Ground.open();
      const one = await ground.started();
      const [old, next] = [ground.first.client(), ground.second.client()];
      await next.replicaof('NO', 'ONE');
      for (let i = 0; i < 400; i++) await next.set(`other-${i}`, String(Math.random()).repeat(500));
      // What the old master alone has makes it read everything again.
      await old.set('diverged', 'yes');
      await old.config('SET', 'key-load-delay', '300000', 'loading-process-events-interval-bytes', '1024');
      await ground.failOver();
      const isLoading = async () => (await old.info('persistence')).includes('loading:1');
      await eventually('the old master loads', isLoading);
      await eventually('its connection is left', async () => {
        await one.filter.check(['nobody']);
        return one.events.some(
          (event) => event.type === 'connection-error' && /LOADING/.test(String(event.error)),
        );
      });
      await new Promise((resolve) => setTimeout(resolve, 300));
      ground.moveAddress();
      await expectProtectedAgain(one);
      expect(await isLoading()).toBe(true);
    },
  );
});
