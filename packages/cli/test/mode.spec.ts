import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { BloomModule, BloomService } from 'nestjs-bloom';
import { redisBloom } from '@nestjs-bloom/interop';
import { eventually } from '../../../test/support/eventually.js';
import { RedisFixture } from '../../../test/support/redis-fixture.js';
import { runHere } from './support/in-process.js';

let redis: RedisFixture;
const apps: INestApplicationContext[] = [];
beforeAll(async () => {
  redis = await RedisFixture.start();
});
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});
afterAll(() => redis.close());

const on = (...words: string[]) => runHere(['mode', ...words, '--redis', redis.server.url]);
const shown = async (...words: string[]) => JSON.parse((await on(...words, '--json')).stdout) as unknown;

/** A process that has the filter. */
async function process(name: string) {
  const module = await Test.createTestingModule({
    imports: [
      BloomModule.forRoot({ redis: redis.server.url, timeoutMs: 5000 }),
      BloomModule.forFeature([
        { name, capacity: 1000, source: { ids: async function* () {} }, rebuild: { minRatio: 0 } },
      ]),
    ],
  }).compile();
  apps.push(await module.init());
  return module.get(BloomService).filter(name);
}

describe('nestjs-bloom mode', () => {
  it('switches the guards of all processes, shows which have heard it, and withdraws it', async () => {
    const filters = [await process('products'), await process('products')];
    await eventually('it is built', async () => (await filters[0]!.info()).state === 'ready');
    expect(await shown('products')).toMatchObject({ mode: null });
    expect((await on('products')).stdout).toContain('no mode for all processes: each has its own');

    const { stdout, code } = await on('products', 'off', '--by', 'Ana');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^products +off for all processes\n/)]);
    expect(stdout).toMatch(/set +by Ana, .* ago\)\n/);
    expect(stdout).toMatch(/takes effect +within about a second/);
    await eventually('both are off', () => filters.every(({ guarding }) => guarding.mode === 'off'), 60_000);
    const modes = async () => ((await shown('products')) as { processes: string[] }).processes;
    await eventually('both report it', async () => (await modes()).join() === 'off,off');
    expect((await on('products')).stdout).toContain('2 processes reported within the last seconds: 2 off');

    await on('products', 'withdraw');
    await eventually('both are on', () => filters.every(({ guarding }) => guarding.mode === 'on'), 60_000);
    expect(await shown('products')).toMatchObject({ mode: null, by: expect.stringMatching(/./) });
  });

  it('finds the board of a filter of another layout', async () => {
    const { filter } = await redis.open('others', {}, { layout: redisBloom() });
    await redis.client().hset('bloom:{others}:bf:nestjs-bloom:meta', 'format', '2');
    await on('others', 'shadow', '--by', 'Ana');
    expect((await filter.board!.read()).mode).toMatchObject({ mode: 'shadow', by: 'Ana' });
    expect(await redis.client().keys('bloom:{others}:mode')).toEqual([]);
  });

  it('refuses an unknown mode, an unknown filter, and an empty name', async () => {
    const [mode, filter, by] = [
      await on('products', 'block'),
      await on('prodcuts', 'off'),
      await on('products', 'off', '--by', ' '),
    ];
    expect([mode.code, mode.stderr]).toEqual([2, expect.stringContaining('on, shadow, off, withdraw')]);
    expect([filter.code, filter.stderr]).toEqual([1, expect.stringContaining("no filter 'prodcuts'")]);
    expect([by.code, by.stderr]).toEqual([2, expect.stringContaining('--by')]);
    expect(await redis.client().keys('*prodcuts*')).toEqual([]);
    await redis.client().hset('bloom:{page}:meta', 'title', 'of an application');
    expect((await on('page', 'off')).stderr).toContain("no filter 'page'");
    expect(await redis.client().keys('*page*')).toEqual(['bloom:{page}:meta']);
  });
});
