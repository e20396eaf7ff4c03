import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import type { BloomRedis } from '../../../../src/store/redis/index.js';
import { build, idsOf } from '../../../support/built-filter.js';
import { eventually } from '../../../support/eventually.js';
import { expectFound } from '../../../support/never-absent.js';
import { type Instance, RedisFixture } from '../../../support/redis-fixture.js';
import { TcpProxy } from '../../../support/tcp-proxy.js';

const BUILT = idsOf('built', 100);
/** Below what a client of Redis waits on its own, and far above what a machine that is not busy takes. */
const BACK_WITHIN_MS = 20_000;

let first: RedisFixture;
let second: RedisFixture;
let address: TcpProxy;
const clients: Redis[] = [];
beforeEach(async () => {
  const diskless = ['--repl-diskless-sync-delay', '0'];
  [first, second] = await Promise.all([RedisFixture.start(diskless), RedisFixture.start(diskless)]);
  address = await TcpProxy.open(first.server);
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.disconnect();
  await address.close();
  await Promise.all([first.close(), second.close()]);
});

const options = () => ({ host: '127.0.0.1', port: address.port });

function clientWith(more: object): Redis {
  const client = new Redis({ ...options(), ...more });
  client.on('error', () => {});
  clients.push(client);
  return client;
}

/** A process whose filter is built on the first server, which the second one replicates. */
async function started(redis: BloomRedis, trustAfterFailover = true): Promise<Instance> {
  const one = await first.open('products', {
    redis,
    trustAfterFailover,
    timeoutMs: 500,
    writeTimeoutMs: 2000,
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
async function failOver(): Promise<void> {
  await second.client().replicaof('NO', 'ONE');
  await first.client().replicaof(second.server.host, second.server.port);
}

const isProtected = async ({ filter }: Instance) => (await filter.check(['nobody']))[0] === 'absent';

async function expectProtectedAgain(one: Instance): Promise<void> {
  await eventually('the filter protects again', () => isProtected(one), BACK_WITHIN_MS);
  expect(await one.filter.add(['late'])).toEqual([true]);
  await expectFound([one.filter], [...BUILT, 'late']);
}

describe('When the master becomes a replica and its address leads to the new one, while connections stay open', () => {
  const reconnectOnError = (error: Error) => (error.message.includes('READONLY') ? 2 : false);

  it.each<[string, () => BloomRedis]>([
    ['a URL', () => address.url],
    ['options', options],
    ['options with reconnectOnError', () => ({ ...options(), reconnectOnError })],
    ['options with automatic pipelines', () => ({ ...options(), enableAutoPipelining: true })],
    ['a client that reconnects on READONLY', () => clientWith({ reconnectOnError })],
  ])('%s: who only looks up is protected again', async (_, redis) => {
    const one = await started(redis());
    await failOver();
    address.target = second.server;
    await expectProtectedAgain(one);
    expect(one.events.filter(({ type }) => type === 'advice')).toEqual([]);
  });

  it('who only adds can add again', async () => {
    const one = await started(address.url);
    await failOver();
    address.target = second.server;
    const added = () =>
      one.filter.add(['late']).then(
        () => true,
        () => false,
      );
    await eventually('the add is acknowledged', added, BACK_WITHIN_MS);
    await expectFound([one.filter], ['late']);
    await eventually('the filter protects', () => isProtected(one));
  });

  it('what the new one may have lost is not denied', async () => {
    const one = await started(address.url, false);
    await failOver();
    address.target = second.server;
    await eventually('the filter is suspect', async () => {
      const { state } = await one.filter.describe().catch(() => ({ state: 'unknown' }));
      return state === 'suspect';
    });
    expect(await one.filter.check(['nobody'])).toEqual(['unknown']);
    await build(one.filter, BUILT);
    await expectProtectedAgain(one);
  });

  it('also when the address moves seconds later; until then it connects about once a second', async () => {
    const one = await started(address.url);
    await failOver();
    const opened = () => one.events.filter(({ type }) => type === 'connection-error').length;
    const asking = setInterval(() => void one.filter.check(['nobody']), 5);
    const since = performance.now();
    await eventually('it connects again and again', () => opened() >= 3);
    expect(opened()).toBeLessThanOrEqual((performance.now() - since) / 1000 + 2);
    clearInterval(asking);
    address.target = second.server;
    await expectProtectedAgain(one);
  });

  it('also for a user who may not ask the server what it is', async () => {
    for (const redis of [first, second])
      await redis.client().call('ACL', 'SETUSER', 'app', 'on', '>secret', '~*', '+@all', '-info');
    const one = await started({ ...options(), username: 'app', password: 'secret', enableReadyCheck: false });
    await failOver();
    address.target = second.server;
    await expectProtectedAgain(one);
  });

  it('a client of the application keeps its connection, and its owner gets one advice', async () => {
    const client = clientWith({});
    const one = await started(client);
    await failOver();
    address.target = second.server;
    await eventually('the replica is not believed', async () => !(await isProtected(one)));
    for (let i = 0; i < 20; i++) expect(await one.filter.check(['nobody'])).toEqual(['unknown']);
    const advice = one.events.flatMap((event) => (event.type === 'advice' ? [event.text] : []));
    expect(advice).toEqual([
      expect.stringContaining("reconnectOnError: (e) => (e.message.includes('READONLY')"),
    ]);
    client.disconnect(true);
    await expectProtectedAgain(one);
  });
});

describe('When the master no longer answers and its address leads to the new one', () => {
  it('a connection that hangs is left', async () => {
    const one = await started(address.url);
    await first.server.kill('SIGSTOP');
    await second.client().replicaof('NO', 'ONE');
    address.target = second.server;
    await expectProtectedAgain(one);
  });

  it('a connection to a server that loads its data for long is left, also when it was opened meanwhile', async () => {
    const one = await started(address.url);
    const [old, next] = [first.client(), second.client()];
    await next.replicaof('NO', 'ONE');
    for (let i = 0; i < 100; i++) await next.set(`other-${i}`, String(Math.random()).repeat(500));
    // What the old master alone has makes it read everything again.
    await old.set('diverged', 'yes');
    await old.config('SET', 'key-load-delay', '300000', 'loading-process-events-interval-bytes', '1024');
    await failOver();
    const isLoading = async () => (await old.info('persistence')).includes('loading:1');
    await eventually('the old master loads', isLoading);
    await eventually('its connection is left', async () => {
      await one.filter.check(['nobody']);
      return one.events.some(
        (event) => event.type === 'connection-error' && /LOADING/.test(String(event.error)),
      );
    });
    await new Promise((resolve) => setTimeout(resolve, 300));
    address.target = second.server;
    await expectProtectedAgain(one);
    expect(await isLoading()).toBe(true);
  });
});
