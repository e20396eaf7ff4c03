import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { RedisFixture } from '../../../test/support/redis-fixture.js';
import { type CommandOptions, run } from './support/command.js';
import { type InstalledPackage, installPackage } from './support/installed-package.js';
import { expectInterruptible } from './support/interruption.js';
import { SHOP_FILES } from './support/shop.js';

const APP = ['--app', 'dist/app.module.js'];

describe('nestjs-bloom rebuild, at length', () => {
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

  it('writes plain lines in a terminal too', async () => {
    const words = ['rebuild', 'products', '--app', 'dist/other.module.js', '--export', 'ShopModule'];
    const { code, stdout } = await inShop(words, { terminal: true, env: { SOURCE: 'slow' } });
    expect(code).toBe(0);
    expect(stdout).toMatch(/reading ids: [\d,]+, \d+ %, /);
    expect(stdout).toContain('products: a new generation is live.');
    // oxlint-disable-next-line no-control-regex
    expect(stdout.replaceAll(/\u001b\[\d*m/g, '')).not.toContain('\u001b');
  });

  it('gives the lease back when it is interrupted in a terminal', () =>
    expectInterruptible(installed, { redis: redis.server.url, client, terminal: true }));

  it('fails with what failed, and leaves the filter as it is', async () => {
    await inShop(['rebuild', 'products', ...APP, '--json']);
    const [broken, empty, forced] = [
      await inShop(['rebuild', 'products', ...APP], { env: { SOURCE: 'broken' } }),
      await inShop(['rebuild', 'products', ...APP], { env: { SOURCE: 'empty' } }),
      await inShop(['rebuild', 'products', ...APP, '--force', '--json'], { env: { SOURCE: 'empty' } }),
    ];
    expect(broken).toMatchObject({ code: 1, stderr: expect.stringContaining('the table is gone') });
    expect(empty).toMatchObject({ code: 1, stderr: expect.stringContaining('The source returned 0 ids') });
    expect(broken.stderr + empty.stderr).not.toMatch(/\n +at /);
    expect([forced.code, JSON.parse(forced.stdout)]).toEqual([
      0,
      expect.objectContaining({ outcome: 'published', ids: 0 }),
    ]);
    expect(await meta()).toMatchObject({ builds: '2', ids: '0' });
  });

  it('is refused while another process rebuilds', async () => {
    await client.set('bloom:{products}:lease', 'another', 'PX', 600_000);
    const { code, stderr } = await inShop(['rebuild', 'products', ...APP]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('Another process is rebuilding')]);
  });

  it.each<[string, string[], number, string]>([
    ['without --app', ['rebuild', 'products'], 2, 'Expected --app with the compiled file of the root module'],
    [
      'for a file that is not there',
      ['rebuild', 'products', '--app', 'dist/ap.module.js'],
      2,
      'there is none. Compile',
    ],
    [
      'for the file that starts the application',
      ['rebuild', 'products', '--app', 'dist/main.js'],
      2,
      'which starts the application',
    ],
    ['for another export', ['rebuild', 'products', ...APP, '--export', 'Shop'], 2, 'Exported are: '],
    [
      'for several exports',
      ['rebuild', 'products', '--app', 'dist/other.module.js'],
      2,
      'Name the root module with --export',
    ],
    [
      'for an application without filters',
      ['rebuild', 'products', '--app', 'dist/plain.module.js'],
      1,
      'expected BloomModule.forRoot',
    ],
    [
      'for a module that cannot be loaded',
      ['rebuild', 'products', '--app', 'dist/broken.module.js'],
      1,
      'gone.js',
    ],
    [
      'for a filter that is not there',
      ['rebuild', 'product', ...APP],
      1,
      "Registered filters: 'products', 'users', 'seen'",
    ],
    ['for a filter without a source', ['rebuild', 'seen', ...APP], 1, 'has no source to rebuild it from'],
  ])('is refused %s', async (_, words, code, text) => {
    const result = await inShop(words);
    expect([result.code, result.stderr]).toEqual([code, expect.stringContaining(text)]);
    expect(result.stderr).not.toMatch(/\n +at /);
    expect(result.stdout).toBe('');
  });

  it('is refused for a filter in memory', async () => {
    const { code, stderr } = await inShop(['rebuild', 'products', ...APP], { env: { SHOP_REDIS: '' } });
    expect([code, stderr]).toEqual([1, expect.stringContaining('in the memory of each process')]);
  });

  it('lets check ask as the application asks', async () => {
    await inShop(['rebuild', 'users', ...APP]);
    const shouted = '6F9619FF-8B86-D011-B42D-00CF4FC964FF';
    const [asApplication, alone] = [
      await inShop(['check', 'users', shouted, ...APP]),
      await inShop(['check', 'users', shouted, '--redis', redis.server.url]),
    ];
    expect([asApplication.stdout, alone.stdout]).toEqual([
      expect.stringContaining(': maybe'),
      expect.stringContaining(': absent'),
    ]);
  });
});
