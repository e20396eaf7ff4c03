import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Redis } from 'ioredis';
import { eventually } from '../support/eventually.js';
import { RedisFixture } from '../support/redis-fixture.js';
import { type CommandOptions, run, start } from './support/command.js';
import { type InstalledPackage, installPackage } from './support/installed-package.js';
import { SHOP_FILES } from './support/shop.js';

/** Each command is a process that loads an application: on a busy machine that takes its time. */
const PATIENCE_MS = 90_000;
jest.setTimeout(PATIENCE_MS);
const APP = ['--app', 'dist/app.module.js'];

describe('nestjs-bloom rebuild', () => {
  let redis: RedisFixture;
  let client: Redis;
  let installed: InstalledPackage;
  beforeAll(async () => {
    redis = await RedisFixture.start();
    client = redis.client();
    installed = installPackage(SHOP_FILES);
  });
  afterAll(async () => {
    installed.remove();
    await redis.close();
  });
  beforeEach(() => client.flushall());

  const inShop = (words: readonly string[], { env, ...others }: CommandOptions = {}) =>
    run(installed, words, { env: { SHOP_REDIS: redis.server.url, ...env }, ...others });
  const meta = (name = 'products') => client.hgetall(`bloom:{${name}}:meta`);

  it('builds a filter without a listener and without schedules, with plain lines on a pipe', async () => {
    const { code, stdout, stderr } = await inShop(['rebuild', 'products', ...APP]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.split('\n');
    expect(lines).toEqual(expect.arrayContaining(['staging the next generation', 'verifying', 'going live']));
    expect(stdout).toMatch(/reading ids: 0\n/);
    expect(stdout).toMatch(
      /products: a new generation is live\.\n {2}ids +10,000\n {2}planned for +11,000\n/,
    );
    for (const odd of ['\u001b', '\r', 'A JOB RAN']) expect(stdout).not.toContain(odd);
    // Of the name of the application, as its own processes claim it; and of no other filter.
    expect(await meta()).toMatchObject({ state: 'ready', owner: 'shop', ids: '10000', builds: '1' });
    expect(await client.keys('*lease')).toEqual([]);
    expect([await meta('users'), await meta('seen')]).toEqual([{}, {}]);
  });

  it.each([
    ['on a pipe', false],
    ['in a terminal', true],
  ])('gives the lease back when it is interrupted %s', async (_, terminal) => {
    const env = { SHOP_REDIS: redis.server.url, SOURCE: 'slow' };
    const command = start(installed, ['rebuild', 'products', ...APP], { env, terminal });
    await eventually('the source is read', () => command.output().includes('reading ids'), PATIENCE_MS);
    expect(await client.exists('bloom:{products}:lease')).toBe(1);
    command.child.kill('SIGINT');
    const { code, stdout, stderr } = await command.result;
    expect(stdout + stderr).toContain('was interrupted: the filter is as it was.');
    expect(code).toBe(130);
    expect(await client.keys('bloom:{products}:*')).toEqual(
      expect.not.arrayContaining([expect.stringMatching(/lease|next/)]),
    );
  });
});
