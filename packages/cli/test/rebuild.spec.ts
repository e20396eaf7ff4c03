import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { RedisFixture } from '../../../test/support/redis-fixture.js';
import { type CommandOptions, run } from './support/command.js';
import { type InstalledPackage, installPackage } from './support/installed-package.js';
import { expectInterruptible } from './support/interruption.js';
import { SHOP_FILES } from './support/shop.js';

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
    // The name is the application's, as its own processes claim it, and no other filter has it.
    expect(await meta()).toMatchObject({ state: 'ready', owner: 'shop', ids: '10000', builds: '1' });
    expect(await client.keys('*lease')).toEqual([]);
    expect([await meta('users'), await meta('seen')]).toEqual([{}, {}]);
  });

  it('gives the lease back when it is interrupted on a pipe', () =>
    expectInterruptible(installed, { redis: redis.server.url, client, terminal: false }));
});
