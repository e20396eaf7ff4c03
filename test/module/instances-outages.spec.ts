import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { BloomModuleOptions } from 'nestjs-bloom';
import type { Redis } from 'ioredis';
import { eventually } from '../support/eventually.js';
import { RedisFixture } from '../support/redis-fixture.js';
import { asUser } from '../support/restricted-user.js';
import { PRODUCTS, type SharedApplication, startShared } from '../support/shared-application.js';
import { TcpProxy } from '../support/tcp-proxy.js';

/**
 * Deadline of a process that is to wait in vain, and long enough that one is in time on a machine that is
 * busy.
 */
const HASTY = { timeoutMs: 1_000, writeTimeoutMs: 5_000 } as const;

let redis: RedisFixture;
let client: Redis;
let proxy: TcpProxy;
const started: SharedApplication[] = [];

beforeAll(async () => {
  redis = await RedisFixture.start();
  client = redis.client();
  proxy = await TcpProxy.open(redis.server);
});
beforeEach(() => client.flushall());
afterEach(async () => {
  proxy.release();
  await Promise.all(started.splice(0).map((one) => one.close()));
});
afterAll(async () => {
  await proxy.close();
  await redis.close();
});

async function start(options: BloomModuleOptions = {}) {
  const application = await startShared({ redis: redis.server.url, ...options });
  started.push(application);
  return application;
}

const beats = ({ of }: SharedApplication) =>
  of('store-error').filter(({ operation }) => operation === 'heartbeat');

it('keeps the mode while Redis does not answer, reports that once, and is seen again after it', async () => {
  const one = await start({ redis: proxy.url, ...HASTY });
  const other = await start();
  await other.bloom.setMode(PRODUCTS, 'off', { by: 'Ana' });
  await eventually('it is heard', () => one.mode() === 'off');
  proxy.hold();
  await eventually('it is reported', () => beats(one).length === 1);
  await eventually(
    'its report has expired',
    async () => (await other.bloom.instances(PRODUCTS)).instances.length === 1,
  );
  await expect(one.bloom.setMode(PRODUCTS, 'on', { by: 'Ana' })).rejects.toThrow();
  await expect(one.bloom.instances(PRODUCTS)).rejects.toThrow();
  expect([one.mode(), beats(one).length]).toEqual(['off', 1]);
  proxy.release();
  await eventually('it is back', async () => (await other.bloom.instances(PRODUCTS)).instances.length === 2);
  expect(beats(one)).toHaveLength(1);
});

it('costs no lookup anything, nor fails one, while heartbeats get no answer', async () => {
  const one = await start({ redis: proxy.url, ...HASTY });
  await one.bloom.filter(PRODUCTS).rebuild();
  const filter = one.bloom.filter(PRODUCTS);
  await eventually('the copy answers', async () => (await filter.check('a')) === 'maybe');
  const opened = one.of('circuit-opened').length;
  proxy.holdReplies();
  await eventually('heartbeats fail', () => beats(one).length === 1);
  expect(one.of('circuit-opened')).toHaveLength(opened);
  proxy.release();
  await eventually('absent ids are denied', async () => (await filter.check('x')) === 'absent');
});

it('starts without Redis, and hears the mode when it is back', async () => {
  const other = await start();
  await other.bloom.setMode(PRODUCTS, 'shadow', { by: 'Ana' });
  proxy.hold();
  const one = await start({ redis: proxy.url, ...HASTY, owner: false });
  expect(one.mode()).toBe('on');
  proxy.release();
  await eventually('it is heard', () => one.mode() === 'shadow');
});

it('still beats in a process without lookups whose circuit is open', async () => {
  const one = await start({ redis: proxy.url, ...HASTY });
  const other = await start();
  await one.bloom.filter(PRODUCTS).rebuild();
  proxy.hold();
  await eventually('the circuit is open', async () => {
    await one.bloom.filter(PRODUCTS).check('x');
    return one.of('circuit-opened').length > 0;
  });
  proxy.release();
  await other.bloom.setMode(PRODUCTS, 'off', { by: 'Ana' });
  await eventually('it is heard without a lookup', () => one.mode() === 'off');
});

it.each([
  ['on these keys', ['~nothing:*', '+@all'] as const],
  ['of one command', ['~*', '+@all', '-set'] as const],
])('gives one advice to a user without the permission %s', async (_, rules) => {
  const user = await asUser(redis, client, [...rules]);
  const one = await start({ redis: user, owner: false });
  const advice = () => one.of('advice').filter(({ text }) => text.includes('heartbeat'));
  await eventually('it is advised', () => advice().length === 1);
  expect(advice()[0]!.text).toContain('heartbeat: false');
  const other = await start();
  const id = async () => (await other.bloom.instances(PRODUCTS)).instances[0]!.id;
  await eventually('the other one beats', async () => (await id()) !== undefined);
  const seen = () => client.hgetall(`bloom:{${PRODUCTS}}:instances`);
  const [before, otherId] = [await seen(), await id()];
  const times = new Set<string>();
  await eventually('beats of the other one', async () => times.add((await seen())[otherId]!).size >= 4);
  // The one that is refused does not try again so soon.
  const after = await seen();
  expect({ ...after, [otherId]: '' }).toEqual({ ...before, [otherId]: '' });
  expect(advice()).toHaveLength(1);
});

it('hears the mode from a server that takes no writes for lack of memory', async () => {
  const one = await start();
  const other = await start();
  await client.config('SET', 'maxmemory', '1mb');
  await client.config('SET', 'maxmemory-policy', 'noeviction');
  try {
    const at = Date.now() + 10_000;
    await client.config('SET', 'maxmemory', '0');
    await client.set(`bloom:{${PRODUCTS}}:mode`, `${at} off Ana`);
    await client.config('SET', 'maxmemory', '1');
    await eventually('it is heard', () => one.mode() === 'off' && other.mode() === 'off');
    await eventually('the failure is reported', () => beats(one).length === 1);
  } finally {
    await client.config('SET', 'maxmemory', '0');
  }
});
