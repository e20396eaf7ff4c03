import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { BloomFeature, BloomModuleOptions } from 'nestjs-bloom';
import type { Redis } from 'ioredis';
import { goZero } from '@nestjs-bloom/interop';
import { scaling } from '@nestjs-bloom/interop/scaling';
import { BrokenLibrary } from '../support/broken-library.js';
import { eventually } from '../support/eventually.js';
import { RedisFixture } from '../support/redis-fixture.js';
import { asUser } from '../support/restricted-user.js';
import { PRODUCTS, type SharedApplication, startShared } from '../support/shared-application.js';

const MODE = `bloom:{${PRODUCTS}}:mode`;

let redis: RedisFixture;
let client: Redis;
const started: SharedApplication[] = [];

beforeAll(async () => {
  redis = await RedisFixture.start();
  client = redis.client();
});
beforeEach(() => client.flushall());
afterEach(closeAll);
afterAll(() => redis.close());

async function closeAll(): Promise<void> {
  await Promise.all(started.splice(0).map((one) => one.close()));
}

async function start(
  options: BloomModuleOptions = {},
  feature?: Partial<BloomFeature>,
  library?: Pick<typeof import('nestjs-bloom'), 'BloomModule' | 'BloomService'>,
) {
  const application = await startShared({ redis: redis.server.url, ...options }, feature, library);
  started.push(application);
  return application;
}

/** A process that hears the mode before anything else: its start waits a second for that, and no longer. */
async function startIn(mode: string, options: BloomModuleOptions = {}, feature?: Partial<BloomFeature>) {
  let one!: SharedApplication;
  await eventually(`a process starts with mode ${mode}`, async () => {
    one = await start(options, feature);
    if (one.mode() === mode) return true;
    await started.pop()!.close();
    return false;
  });
  return one;
}

describe('Processes that report nothing of themselves', () => {
  let copy: BrokenLibrary;
  let library: typeof import('nestjs-bloom');
  beforeAll(async () => {
    // These look every 12 s: not in their tests.
    const look = {
      file: 'src/service/filter-instances.ts',
      from: 'const IDLE_LOOK_MS = 12_000;',
      to: 'const IDLE_LOOK_MS = 500;',
    };
    copy = BrokenLibrary.open({ look });
    library = await copy.load('src/index.ts');
  });
  afterAll(() => copy.close());

  const silent = (feature?: Partial<BloomFeature>, options: BloomModuleOptions = {}) =>
    start({ heartbeat: undefined, ...options }, feature, library);
  const reports = () => client.keys('*:instance:*');

  it('hear it without a call of a guard, keep it for a server that lost it, and report nothing once it is withdrawn', async () => {
    const one = await silent();
    const other = await silent();
    expect(await reports()).toEqual([]);
    await one.bloom.setMode(PRODUCTS, 'off', { by: 'Ana' });
    await eventually('it is heard', () => other.mode() === 'off');
    const record = await client.get(MODE);
    await client.flushall();
    await eventually('it is there again', async () => (await client.get(MODE)) === record);
    await one.bloom.setMode(PRODUCTS, null, { by: 'Ana' });
    await eventually('the other one has its own', () => other.mode() === 'on');
    await eventually('nothing is reported', async () => (await reports()).length === 0);
    // As a server has it that was restored from an old snapshot.
    await client.set(MODE, record!);
    await eventually('it is withdrawn again', async () => (await client.get(MODE))!.includes(' - Ana'));
    expect([one.mode(), other.mode()]).toEqual(['on', 'on']);
  });

  it('hear it while their own guards are off', async () => {
    const one = await silent();
    one.bloom.filter(PRODUCTS).guarding.mode = 'off';
    await (await silent()).bloom.setMode(PRODUCTS, 'shadow', { by: 'Ana' });
    await eventually('it is heard', () => one.mode() === 'shadow');
  });

  it('hear it in the first part of a divided filter', async () => {
    const [one, other] = [await silent({ partitions: 4 }), await silent({ partitions: 4 })];
    await one.bloom.setMode(PRODUCTS, 'off', { by: 'Ana' });
    await eventually('it is heard', () => other.mode() === 'off');
  });

  it('do not hear that of another application', async () => {
    const one = await silent();
    await one.bloom.filter(PRODUCTS).rebuild();
    await client.hset(`bloom:{${PRODUCTS}}:meta`, 'owner', 'billing');
    await client.set(MODE, `${Date.now()} off Ben`);
    await eventually('it has looked', () => one.of('other-owner').length > 0);
    expect(one.mode()).toBe('on');
  });

  it('work without it for a user who may not read it, which one advice says', async () => {
    await (await silent()).bloom.filter(PRODUCTS).rebuild();
    const user = await asUser(redis, client, ['~*:meta', '~*}:0', '+@all']);
    const one = await silent({}, { redis: user });
    await eventually('it answers', async () => (await one.bloom.filter(PRODUCTS).check('x')) === 'absent');
    const advice = one.of('advice').filter(({ text }) => text.includes('heartbeat: false'));
    expect(advice).toHaveLength(1);
  });
});

it('reaches every process, which says who set it and when', async () => {
  const before = Date.now();
  const all = [await start(), await start(), await start({}, { shadow: true })];
  await all[0]!.bloom.setMode(PRODUCTS, 'off', { by: 'Ana\nforged' });
  expect(all[0]!.mode()).toBe('off');
  await eventually('all have heard it', () => all.every((one) => one.mode() === 'off'));
  for (const one of all) {
    expect(one.of('mode-changed')).toEqual([
      { type: 'mode-changed', filter: PRODUCTS, mode: 'off', by: 'Ana\nforged', at: expect.any(Date) },
    ]);
    expect(one.of('mode-changed')[0]!.at.getTime()).toBeGreaterThanOrEqual(before - 1000);
    expect((await one.bloom.instances(PRODUCTS)).mode).toMatchObject({ mode: 'off', by: 'Ana\nforged' });
  }
  await all[1]!.bloom.setMode(PRODUCTS, null, { by: 'Ben' });
  await eventually('all are as they were', () => all.map((one) => one.mode()).join() === 'on,on,shadow');
  expect(all[2]!.of('mode-changed').at(-1)).toMatchObject({ mode: 'shadow', by: 'Ben', withdrawn: true });
  expect((await all[0]!.bloom.instances(PRODUCTS)).mode).toBeUndefined();
});

it('is known to a process before its first request, and outlives all processes and rebuilds', async () => {
  const one = await start();
  await one.bloom.setMode(PRODUCTS, 'off', { by: 'Ana' });
  await one.bloom.filter(PRODUCTS).rebuild();
  await closeAll();
  const two = await startIn('off');
  expect(two.of('mode-changed')).toHaveLength(1);
  await two.bloom.setMode(PRODUCTS, null, { by: 'Ana' });
  await closeAll();
  const three = await start({}, { shadow: true });
  expect([three.mode(), three.of('mode-changed')]).toEqual(['shadow', []]);
  expect(await client.pttl(MODE)).toBe(-1);
});

it('outlives reset()', async () => {
  const one = await start({}, { source: undefined, rebuild: undefined });
  await one.bloom.setMode(PRODUCTS, 'shadow', { by: 'Ana' });
  await one.bloom.filter(PRODUCTS).reset();
  expect((await one.bloom.instances(PRODUCTS)).mode).toMatchObject({ mode: 'shadow' });
  await startIn('shadow', {}, { source: undefined, rebuild: undefined });
});

it('leaves a mode alone that the process sets itself later, until somebody sets one for all again', async () => {
  const one = await start();
  const two = await start();
  await one.bloom.setMode(PRODUCTS, 'off', { by: 'Ana' });
  await eventually('it is heard', () => two.mode() === 'off');
  two.bloom.filter(PRODUCTS).guarding.mode = 'on';
  const seen = async () => (await one.bloom.instances(PRODUCTS)).instances.map(({ metrics }) => metrics.mode);
  await eventually('the others see it', async () => (await seen()).sort().join() === 'off,on');
  expect(two.mode()).toBe('on');
  await one.bloom.setMode(PRODUCTS, 'shadow', { by: 'Ana' });
  await eventually('the next one is heard', () => two.mode() === 'shadow');
  await one.bloom.setMode(PRODUCTS, null, { by: 'Ana' });
  await eventually('each has its own', () => two.mode() === 'on' && one.mode() === 'on');
});

it('is written again by a process that knows it, to a server that lost it', async () => {
  const one = await start();
  await one.bloom.setMode(PRODUCTS, 'off', { by: 'Ana' });
  const record = await client.get(MODE);
  await client.flushall();
  await eventually('it is there again', async () => (await client.get(MODE)) === record);
  await redis.server.restart();
  await eventually('it is there after a restart', async () => (await client.get(MODE)) === record);
  await startIn('off');
});

it('goes by the latest record where processes know different ones, and where a clock was set back', async () => {
  const one = await start();
  const two = await start();
  await one.bloom.setMode(PRODUCTS, 'off', { by: 'Ana' });
  await eventually('it is heard', () => two.mode() === 'off');
  // As a server that was restored from an old snapshot has it.
  await client.set(MODE, '1000 shadow Old');
  await eventually('the later one is back', async () => (await client.get(MODE))!.endsWith('off Ana'));
  const ahead = Date.now() + 3_600_000;
  await client.set(MODE, `${ahead} shadow Ahead`);
  await eventually('it is heard', () => one.mode() === 'shadow' && two.mode() === 'shadow');
  await client.del(MODE);
  await two.bloom.setMode(PRODUCTS, 'on', { by: 'Ben' });
  await eventually('the next one counts', () => one.mode() === 'on');
  expect(await client.get(MODE)).toBe(`${ahead + 1} on Ben`);
});

it('pays no attention to what this version did not write', async () => {
  const one = await start();
  await client.set(MODE, `${Date.now() + 1000} canary Newer`);
  await client.hset(
    `bloom:{${PRODUCTS}}:rebuilds`,
    'x',
    '1 {"odd":',
    'y',
    'nothing',
    'z',
    '1 {"outcome":"published"}',
  );
  await client.set(`bloom:{${PRODUCTS}}:instance:strange`, '[1]');
  const [seconds] = await client.time();
  await client.hset(
    `bloom:{${PRODUCTS}}:instances`,
    'strange',
    `${seconds * 1000} ${seconds * 1000 + 60_000}`,
  );
  await eventually('only what this version wrote is shown', async () => {
    const { instances, rebuilds, mode } = await one.bloom.instances(PRODUCTS);
    return instances.length === 1 && rebuilds.length === 0 && mode === undefined;
  });
  expect(one.mode()).toBe('on');
});

it('replaces keys of other types', async () => {
  for (const key of ['instances', 'rebuilds', 'running'])
    await client.set(`bloom:{${PRODUCTS}}:${key}`, 'odd');
  await client.hset(MODE, 'odd', '1');
  const one = await start();
  await one.bloom.filter(PRODUCTS).rebuild();
  await one.bloom.setMode(PRODUCTS, 'off', { by: 'Ana' });
  await eventually('all is well', async () => {
    const { instances, rebuilds, mode } = await one.bloom.instances(PRODUCTS);
    return instances.length === 1 && rebuilds.length === 1 && mode?.mode === 'off';
  });
  expect(one.of('store-error')).toEqual([]);
});

it.each<[string, Partial<BloomFeature>, BloomModuleOptions]>([
  ['of go-zero', { layout: goZero({ key: 'seen', bits: 2 ** 16 }) }, {}],
  ['that grows', { layout: scaling(), source: undefined, rebuild: undefined }, {}],
  ['with a prefix', {}, { keyPrefix: 'shop:filters' }],
])('works with a filter %s', async (_, feature, options) => {
  const [one, two] = [await start(options, feature), await start(options, feature)];
  await one.bloom.setMode(PRODUCTS, 'off', { by: 'Ana' });
  await eventually('it is heard', () => two.mode() === 'off');
  await eventually('both are seen', async () => (await two.bloom.instances(PRODUCTS)).instances.length === 2);
});

it('is not shared with another application on a filter of the same name', async () => {
  const one = await start();
  await one.bloom.filter(PRODUCTS).rebuild();
  const stranger = await start({ owner: false });
  const meta = `bloom:{${PRODUCTS}}:meta`;
  await client.hset(meta, 'owner', 'billing');
  await expect(one.bloom.setMode(PRODUCTS, 'off', { by: 'Ana' })).rejects.toThrow(
    /belongs to another application/,
  );
  await expect(one.bloom.instances(PRODUCTS)).rejects.toThrow(/belongs to another application/);
  await expect(one.bloom.stopRebuild(PRODUCTS, { by: 'Ana' })).rejects.toThrow(
    /belongs to another application/,
  );
  await stranger.bloom.setMode(PRODUCTS, 'shadow', { by: 'Ben' });
  await eventually('it is told once', () => one.of('store-error').length === 1);
  expect(one.mode()).toBe('on');
});
