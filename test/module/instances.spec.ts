import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { BloomFeature, BloomModuleOptions } from 'nestjs-bloom';
import type { Redis } from 'ioredis';
import { eventually } from '../support/eventually.js';
import { RedisFixture } from '../support/redis-fixture.js';
import { PRODUCTS, type SharedApplication, startShared } from '../support/shared-application.js';

let redis: RedisFixture;
let client: Redis;
const started: SharedApplication[] = [];

beforeAll(async () => {
  redis = await RedisFixture.start();
  client = redis.client();
});
beforeEach(() => client.flushall());
afterEach(async () => {
  await Promise.all(started.splice(0).map((one) => one.close()));
});
afterAll(() => redis.close());

async function start(options: BloomModuleOptions = {}, feature?: Partial<BloomFeature>) {
  const application = await startShared({ redis: redis.server.url, ...options }, feature);
  started.push(application);
  return application;
}

const processes = async ({ bloom }: SharedApplication) => (await bloom.instances(PRODUCTS)).instances;

it('shows every process to each of them, the longest-running first, and none that has ended', async () => {
  const before = Date.now();
  const one = await start();
  const two = await start();
  await two.bloom.setMode(PRODUCTS, 'shadow', { by: 'Ana' });
  await eventually('both modes are seen', async () => {
    const seen = await processes(two);
    return seen.length === 2 && seen.every(({ metrics }) => metrics.mode === 'shadow');
  });
  const [first, second] = await processes(one);
  expect(first!.startedAt.getTime()).toBeLessThanOrEqual(second!.startedAt.getTime());
  expect(first!.seenAt.getTime()).toBeGreaterThanOrEqual(before - 1000);
  expect(new Set([first!.id, second!.id]).size).toBe(2);
  expect(first!.metrics).toMatchObject({ filter: PRODUCTS, isCircuitOpen: false });
  await two.close();
  started.pop();
  expect((await processes(one)).map(({ id }) => id)).toEqual([first!.id]);
});

it('reports what was counted, also by a process without traffic', async () => {
  const busy = await start();
  const idle = await start();
  const method = { method: 'Shop.find', counted: { last: undefined } };
  for (let i = 0; i < 3; i++) busy.bloom.guardable(PRODUCTS).guarding.record('absent', method);
  const absents = async () => (await processes(idle)).map(({ metrics }) => metrics.guards.absent);
  await eventually('the absents are seen', async () => (await absents()).includes(3));
  expect((await absents()).sort()).toEqual([0, 3]);
  const seen = async () => (await processes(busy)).map(({ seenAt }) => seenAt.getTime());
  const [first] = await seen();
  await eventually('both beat again', async () => (await seen()).every((at) => at > first! + 1000));
});

it('sends no more than a beat a second of a filter', async () => {
  const since = performance.now();
  const application = await start();
  const times = new Set<number>();
  await eventually('some beats', async () => {
    for (const { seenAt } of await processes(application)) times.add(seenAt.getTime());
    return times.size >= 6;
  });
  // One at the start, and one at a random moment of the first second.
  expect(times.size).toBeLessThanOrEqual((performance.now() - since) / 1000 + 2);
});

it('shares the rebuilds of all, and keeps them when all have ended', async () => {
  const one = await start();
  const two = await start();
  await one.bloom.filter(PRODUCTS).rebuild();
  two.source.close();
  const run = two.bloom.filter(PRODUCTS).rebuild();
  const ended = expect(run).rejects.toMatchObject({ reason: 'aborted' });
  const running = async () => (await one.bloom.instances(PRODUCTS)).running;
  await eventually(
    'the other one sees it scan',
    async () => (await running())?.progress?.phase === 'scanning',
  );
  expect(await running()).toMatchObject({ pid: process.pid, host: expect.any(String) });
  expect((await running())!.startedAt.getTime()).toBeLessThanOrEqual(Date.now());
  expect(await one.bloom.stopRebuild(PRODUCTS, { by: 'Ana at Ops' })).toBe(true);
  await ended;
  expect(two.of('rebuild-failed')).toHaveLength(1);
  await eventually(
    'the record is seen',
    async () => (await one.bloom.instances(PRODUCTS)).rebuilds.length === 2,
  );
  expect(await running()).toBeUndefined();
  expect(await one.bloom.stopRebuild(PRODUCTS, { by: 'Ana at Ops' })).toBe(false);
  await Promise.all(started.splice(0).map((application) => application.close()));
  const three = await start();
  expect((await three.bloom.instances(PRODUCTS)).rebuilds).toEqual([
    expect.objectContaining({ outcome: 'stopped', reason: expect.stringContaining('Ana at Ops') }),
    expect.objectContaining({ outcome: 'published', ids: 3, phases: expect.any(Array) }),
  ]);
});

it('keeps the last 50 rebuilds', async () => {
  const application = await start({}, { rebuild: { onBoot: 'never', drainMs: 0 } });
  for (let run = 0; run < 52; run++) await application.bloom.filter(PRODUCTS).rebuild();
  const rebuilds = async () => (await application.bloom.instances(PRODUCTS)).rebuilds;
  await eventually('the last one is noted', async () => {
    const times = (await rebuilds()).map(({ startedAt }) => startedAt.getTime());
    return times.length === 50 && times.every((at, i) => i === 0 || at <= times[i - 1]!);
  });
  expect(await client.hlen(`bloom:{${PRODUCTS}}:rebuilds`)).toBe(50);
  expect(await client.pttl(`bloom:{${PRODUCTS}}:rebuilds`)).toBeGreaterThan(29 * 24 * 3_600_000);
});

it('does not pause the next rebuild that is asked for, and that of a recovery for minutes', async () => {
  const application = await start();
  application.source.close();
  const run = application.bloom.filter(PRODUCTS).rebuild();
  const ended = expect(run).rejects.toMatchObject({ reason: 'aborted' });
  await eventually('it can be stopped', () => application.bloom.stopRebuild(PRODUCTS, { by: 'Ana' }));
  await ended;
  const due = Number(await client.hget(`bloom:{${PRODUCTS}}:builds`, 'wait'));
  expect(due).toBe(300_000);
  application.source.open();
  expect(await application.bloom.filter(PRODUCTS).rebuild()).toMatchObject({ outcome: 'published' });
});

it('writes every key with a life but the mode, in the slot of the filter', async () => {
  const application = await start();
  await application.bloom.setMode(PRODUCTS, 'off', { by: 'Ana' });
  application.source.close();
  const run = application.bloom.filter(PRODUCTS).rebuild();
  const board = /:(instances|instance:.*|running|mode|rebuilds)$/;
  const keys = async () => (await client.keys('*')).filter((key) => board.test(key)).sort();
  await eventually('the run is reported', async () => (await keys()).some((key) => key.endsWith(':running')));
  application.source.open();
  await run;
  application.source.close();
  const next = application.bloom.filter(PRODUCTS).rebuild();
  await eventually('all are there', async () => (await keys()).length === 5);
  for (const key of await keys()) {
    expect(key.startsWith(`bloom:{${PRODUCTS}}:`)).toBe(true);
    const life = await client.pttl(key);
    if (key.endsWith(':mode')) expect(life).toBe(-1);
    else expect(life).toBeGreaterThan(0);
  }
  application.source.open();
  await next;
});

it('bounds the processes that are kept, and forgets those that are gone', async () => {
  const application = await start();
  const id = (await processes(application))[0]!.id;
  const index = `bloom:{${PRODUCTS}}:instances`;
  const [seconds] = await client.time();
  const now = seconds * 1000;
  const dead = Array.from({ length: 200 }, (_, i) => [`dead-${i}`, `${now - 9000} ${now - 4000}`]).flat();
  const alive = Array.from({ length: 800 }, (_, i) => [`alive-${i}`, `${now + i} ${now + 500_000}`]).flat();
  await client.hset(index, ...dead, ...alive, 'odd', 'nonsense', 'future', `${now} ${now + 90_000_000}`);
  await eventually('only some are left', async () => (await client.hlen(index)) <= 501);
  const names = await client.hkeys(index);
  expect(names.filter((name) => /dead|odd|future/.test(name))).toEqual([]);
  expect(names).toContain(id);
  expect(await processes(application)).toHaveLength(1);
});

it('takes no part with heartbeat: false, and reads and asks all the same', async () => {
  const silent = await start({ heartbeat: false });
  await silent.bloom.filter(PRODUCTS).rebuild();
  expect(await client.keys('*instance*')).toEqual([]);
  expect(await client.exists(`bloom:{${PRODUCTS}}:rebuilds`)).toBe(0);
  const other = await start();
  expect(await processes(silent)).toHaveLength(1);
  await silent.bloom.setMode(PRODUCTS, 'off', { by: 'Ana' });
  expect(silent.mode()).toBe('off');
  await eventually('the other one hears it', () => other.mode() === 'off');
  await other.bloom.setMode(PRODUCTS, 'on', { by: 'Ana' });
  expect(silent.mode()).toBe('off');
});

it('reports a process by default from the first call of instances() on, and takes that back', async () => {
  const one = await start({ heartbeat: undefined });
  const other = await start({ heartbeat: undefined });
  expect(await client.keys('*:instance*')).toEqual([]);
  const [seen] = await processes(one);
  expect(seen!.metrics.filter).toBe(PRODUCTS);
  other.bloom.reportInstances();
  await eventually('both are seen', async () => (await processes(one)).length === 2);
  await Promise.all(started.splice(0).map((application) => application.close()));
  expect(await client.keys('*:instance:*')).toEqual([]);
});

it('shows and stops a rebuild of a process that reports nothing else', async () => {
  const one = await start();
  const other = await start({ heartbeat: undefined });
  other.source.close();
  const ended = expect(other.bloom.filter(PRODUCTS).rebuild()).rejects.toMatchObject({ reason: 'aborted' });
  await eventually('it can be stopped', () => one.bloom.stopRebuild(PRODUCTS, { by: 'Ana' }));
  await ended;
});

it.each([[500], [60_001], [Number.NaN], ['1000']])('refuses heartbeat.everyMs: %s', async (everyMs) => {
  const wrong = { heartbeat: { everyMs: everyMs as number } };
  await expect(start(wrong)).rejects.toThrow(/heartbeat.everyMs/);
});

it('refuses options of the heartbeat that there are not', async () => {
  await expect(start({ heartbeat: { evryMs: 1000 } as object })).rejects.toThrow(/heartbeat.everyMs/);
  await expect(start({ heartbeat: 'often' as never })).rejects.toThrow(/heartbeat to be an object/);
});
