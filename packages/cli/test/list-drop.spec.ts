import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { scaling } from '@nestjs-bloom/interop/scaling';
import type { Redis } from 'ioredis';
import { partName, RedisKeys } from 'nestjs-bloom/internal';
import { build, idsOf, leaseOf, testPlan } from '../../../test/support/built-filter.js';
import { eventually } from '../../../test/support/eventually.js';
import { openOptions } from '../../../test/support/open-options.js';
import { RedisFixture } from '../../../test/support/redis-fixture.js';
import { PartitioningStore } from '../../../src/store/partitions/index.js';
import { purposeOf } from '../src/inspection/key-facts.js';
import { runHere } from './support/in-process.js';

let redis: RedisFixture;
let client: Redis;
beforeAll(async () => {
  redis = await RedisFixture.start();
  client = redis.client();
});
afterAll(() => redis.close());

const on = (...words: string[]) => runHere([...words, '--redis', redis.server.url]);
const listed = async (...words: string[]) =>
  JSON.parse((await on('list', '--json', ...words)).stdout) as Record<string, unknown>[];

/** A filter with another name in each case, so that none disturbs the others. */
async function built(name: string, ids: readonly string[], keyPrefix = 'bloom') {
  const instance = await redis.open(name, { owner: 'shop', keyPrefix });
  await build(instance.filter, ids);
  return instance;
}

async function partitioned(name: string): Promise<void> {
  const { store } = await redis.open(name);
  await build(new PartitioningStore(store).open(openOptions({ name, partitions: 4 })), idsOf('p', 200));
}

describe('nestjs-bloom list', () => {
  it('lists the filters of all prefixes with their states, and writes nothing', async () => {
    expect((await on('list')).stdout).toBe('0 filters\n');
    await built('one', idsOf('a', 30));
    await built('one', idsOf('b', 20), 'my*shop');
    await partitioned('parts');
    const { filter } = await redis.open(
      'grown',
      {},
      { hasSource: false, layout: scaling(), plan: testPlan() },
    );
    await build(filter, []);
    await client.hset('bloom:{one}:builds', 'failures', 1);
    await client.set('bloom:{one}:cache', 'of the application');
    await client.set('other:{one}:meta:x', '');
    await client.hset('bloom:{broken}:meta', 'format', 99);
    await client.hset('{legacy}:nestjs-bloom:meta', 'format', 99);
    await client.config('RESETSTAT');

    const found = await listed();
    expect(found).toEqual([
      expect.objectContaining({ keyPrefix: 'bloom', name: 'broken', state: 'newer', keys: 1 }),
      expect.objectContaining({
        keyPrefix: 'bloom',
        name: 'grown',
        state: 'ready',
        layout: 'blocked, scaling',
      }),
      expect.objectContaining({
        keyPrefix: 'bloom',
        name: 'one',
        state: 'ready',
        ids: 30,
        keys: 3,
        owner: 'shop',
      }),
      expect.objectContaining({ keyPrefix: 'bloom', name: 'parts', state: 'ready', ids: 200 }),
      expect.objectContaining({ keyPrefix: 'my*shop', name: 'one', state: 'ready', ids: 20 }),
      expect.objectContaining({ name: '', key: 'legacy', state: 'newer', keys: 1 }),
    ]);
    expect(found[2]!['bytes']).toBe(await client.strlen('bloom:{one}:0'));
    expect(found[3]!['keys']).toBe((await client.keys('bloom:{parts*')).length);
    const { stdout, code } = await on('list');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^prefix +filter +state +ids +memory +keys +owner\n/);
    expect(stdout).toMatch(/\nmy\*shop +one +ready +20 +[\d.]+ KiB +\d +shop\n/);
    expect(stdout).toMatch(/--key legacy +newer[^]*\n6 filters\n$/);
    expect(await listed('--prefix', 'my*shop')).toHaveLength(1);
    const stats = await client.info('commandstats');
    expect(stats).not.toMatch(/cmdstat_(set|hset|del|unlink|pexpire)/);
  });

  it('knows what each key of a filter is for', () => {
    const keys = new RedisKeys('bloom', 'x');
    const names = [...Object.values(keys).filter((one) => typeof one === 'string'), keys.segment(12)];
    names.push(keys.staging('t', 1), keys.scratch('t'), keys.retired('t', 0));
    for (const key of names.filter((one) => one !== 'bloom:{x}'))
      expect([key, purposeOf(key.slice('bloom:{x}:'.length))]).toEqual([key, expect.any(String)]);
  });
});

describe('nestjs-bloom drop', () => {
  it('shows the keys, and deletes them when that is confirmed', async () => {
    const { filter } = await built('gone', idsOf('a', 30));
    await built('gone.too', ['a']);
    await client.set('bloom:{gone}:cache', 'of the application');
    const before = (await client.keys('bloom:{gone}:*')).sort();

    const shown = await on('drop', 'gone');
    expect(shown.code).toBe(1);
    expect(shown.stdout).toMatch(/^gone\n +generations +1 key, [\d.]+ KiB\n +metadata +1 key\n/);
    expect(shown.stdout).toContain('1 key, which stay');
    expect(shown.stderr).toContain('Nothing was deleted. Give --yes');
    expect((await client.keys('bloom:{gone}:*')).sort()).toEqual(before);

    const { stdout, code } = await on('drop', 'gone', '--yes');
    expect([code, stdout]).toEqual([0, expect.stringContaining('2 keys deleted. ')]);
    expect(stdout).toContain('let every lookup through (unknown) until it is rebuilt');
    expect(await client.keys('bloom:{gone}:*')).toEqual(['bloom:{gone}:cache']);
    expect(await client.exists('bloom:{gone.too}:meta')).toBe(1);
    await eventually('the process has noticed', async () =>
      (await filter.check(['a-1', 'nobody'])).every((one) => one === 'unknown'),
    );
    expect(await on('drop', 'gone', '--yes')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("no keys of filter 'gone' with keyPrefix 'bloom'"),
    });
  });

  it('deletes all parts of a filter, also where the metadata of the first are gone', async () => {
    await partitioned('divided');
    await client.del('bloom:{divided}:meta');
    await client.set(`bloom:{${partName('divided', 7)}}:next:dead:0`, 'x');
    await built('divided2', ['a']);
    expect((await on('drop', 'divided', '--yes')).code).toBe(0);
    expect(await client.keys('bloom:{divided[}#]*')).toEqual([]);
    expect(await client.exists('bloom:{divided2}:meta')).toBe(1);
  });

  it('leaves the key of another system', async () => {
    await client.hset('{legacy}:nestjs-bloom:meta', 'format', 99);
    await client.set('legacy', 'of others');
    const { stdout, code } = await on('drop', 'old', '--key', 'legacy', '--yes');
    expect([code, stdout]).toEqual([0, expect.stringContaining('stays')]);
    expect(await client.keys('*legacy*')).toEqual(['legacy']);
  });

  it('refuses while processes report on the filter or rebuild it, unless it is forced', async () => {
    const { filter } = await built('used', ['a']);
    await filter.board!.beat({ instance: 'one', text: '{}', lifeMs: 60_000 });
    const lease = await leaseOf(filter, 60_000);
    const refused = await on('drop', 'used', '--yes');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(
      '1 process reported on it within the last seconds and a process rebuilds it',
    );
    expect(await client.exists('bloom:{used}:meta')).toBe(1);
    await lease.release();
    await filter.board!.leave('one');
    await filter.board!.beat({ instance: 'two', text: '{}', lifeMs: 60_000 });
    expect((await on('drop', 'used', '--yes')).stderr).not.toContain('rebuilds');
    expect((await on('drop', 'used', '--yes', '--force')).code).toBe(0);
    expect(await client.keys('bloom:{used}:*')).toEqual([]);
  });

  it('walks over the primaries of a cluster', async () => {
    const cluster = await RedisFixture.start([
      '--cluster-enabled',
      'yes',
      '--cluster-announce-ip',
      '127.0.0.1',
    ]);
    const folder = mkdtempSync(join(tmpdir(), 'nestjs-bloom-list-'));
    try {
      const { host, port } = cluster.server;
      await cluster.client().call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
      await eventually('the cluster is whole', async () =>
        (await cluster.client().cluster('INFO')).includes('cluster_state:ok'),
      );
      const { store } = await cluster.open('spread');
      await build(
        new PartitioningStore(store).open(openOptions({ name: 'spread', partitions: 4 })),
        idsOf('p', 50),
      );
      const file = join(folder, 'redis.json');
      writeFileSync(file, JSON.stringify({ cluster: [{ host, port }] }));
      const words = ['--redis-options', file];
      expect((await runHere(['list', ...words])).stdout).toMatch(/bloom +spread +ready +50 /);
      const { stdout, stderr } = await runHere(['drop', 'spread', '--yes', ...words]);
      expect([stderr, stdout]).toEqual(['', expect.stringContaining('keys deleted')]);
      expect(await cluster.client().keys('*')).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
      await cluster.close();
    }
  });
});
