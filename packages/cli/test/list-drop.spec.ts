import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { scaling } from '@nestjs-bloom/interop/scaling';
import type { Redis } from 'ioredis';
import { partName, plural, RedisKeys } from 'nestjs-bloom/internal';
import { build, idsOf, leaseOf, testPlan } from '../../../test/support/built-filter.js';
import { eventually } from '../../../test/support/eventually.js';
import { openOptions } from '../../../test/support/open-options.js';
import { RedisFixture } from '../../../test/support/redis-fixture.js';
import { LocalCopyStore } from '../../../src/store/local-copy/index.js';
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

/** As after a while without a read of the metadata. */
async function unread(pattern: string, from: Redis = client): Promise<void> {
  for (const key of await from.keys(`${pattern}*meta`))
    await from.restore(key, 0, (await from.dumpBuffer(key))!, 'REPLACE', 'IDLETIME', 60);
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
    await client.hset('app:{user-1}:meta', 'format', 'png');
    await client.set('app:{user-2}:meta', 'x');
    await client.set('bloom:{one}:42', 'of the application');
    await client.config('RESETSTAT');

    const found = await listed();
    expect(found).toEqual([
      expect.objectContaining({ keyPrefix: 'bloom', name: 'broken', state: 'newer', keys: 0 }),
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
      expect.objectContaining({ name: '', key: 'legacy', state: 'newer', keys: 0 }),
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
    expect(shown.stdout).toMatch(/stay +1 key not certain to be of this filter: bloom:{gone}:cache\n/);
    expect(shown.stdout).toContain('Not seen are idle processes with heartbeat: false');
    expect(shown.stderr).toContain('Nothing was deleted. Give --yes');
    expect((await client.keys('bloom:{gone}:*')).sort()).toEqual(before);

    await unread('bloom:{gone}');
    const { stdout, stderr, code } = await on('drop', 'gone', '--yes');
    expect([code, stderr, stdout]).toEqual([0, '', expect.stringContaining('2 keys deleted. ')]);
    expect(stdout).toContain('let every lookup through (unknown) until it is rebuilt');
    expect(await client.keys('bloom:{gone}:*')).toEqual(['bloom:{gone}:cache']);
    expect(await client.exists('bloom:{gone.too}:meta')).toBe(1);
    await eventually('the process has noticed', async () =>
      (await filter.check(['a-1', 'nobody'])).every((one) => one === 'unknown'),
    );
    await client.del('bloom:{gone}:cache');
    expect(await on('drop', 'gone', '--yes')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("no keys of filter 'gone' with keyPrefix 'bloom'"),
    });
  });

  it('deletes everything that the library writes for a filter', async () => {
    const { filter } = await built('whole', ['a']);
    await filter.board!.setMode({ mode: 'off', by: 'Ana' }, 0);
    await filter.board!.recordRun({ id: 'ab12', text: '{}' });
    await filter.highWaterMarks!.record({
      holder: undefined,
      expectedMark: undefined,
      entries: { mark: '7' },
    });
    await filter.highWaterMarks!.ask({ holder: 'one', lifeMs: 60_000 });
    await leaseOf(filter, 60_000);
    const { store } = await redis.open('whole');
    const options = openOptions({ name: 'whole', replica: 'leased', leaseMs: 1000, drainMs: 0 });
    const reader = new LocalCopyStore(store).open(options);
    await eventually('the copy is leased', async () => {
      await reader.check(['nobody']);
      return reader.copyLease?.isLeased === true;
    });
    await reader.add(['b']);
    await reader.close();
    expect(await client.exists('bloom:{whole}:readers', 'bloom:{whole}:feed')).toBe(2);
    for (const part of ['next:0123456789abcdef:0', 'next:0123456789abcdef:scratch', 'old:0123456789abcdef:7'])
      await client.set(`bloom:{whole}:${part}`, 'x', 'PX', 60_000);
    const grown = await redis.open('layers', {}, { hasSource: false, layout: scaling(), plan: testPlan() });
    await build(grown.filter, []);
    for (const name of ['whole', 'layers']) {
      expect((await on('drop', name, '--yes', '--force')).stdout).toMatch(/keys deleted/);
      expect(await client.keys(`bloom:{${name}}:*`)).toEqual([]);
    }
  });

  it.each([
    ['numbered keys, such as a cache of rows', { 42: 'row', 1: 'row' }],
    ['a number that the metadata name, with what others wrote there', { 0: 'x'.repeat(300) }],
    [
      'staged and retired names without a life, or with other tokens',
      {
        'next:page:1': 'x',
        'next:0123456789abcdef:1': 'x',
        'old:0123456789abcdef:1': 'x',
        'next:0123456789abcdef:1:more': 'x',
        'layer:0123456789abcdef:0': 'x',
        'layer:top': 'x',
        'cf:red': 'x',
        bf: 'x',
      },
    ],
    [
      'names of ours with other contents',
      {
        mode: 'dark',
        epoch: '1970',
        lease: '0123456789abcdef@',
        denials: '12',
        running: 'yes',
        rebuilds: '3',
        builds: { number: 'v7' },
        readers: 'x',
        feed: 'x',
        acks: 'x',
        probe: 'x',
        outside: { weather: 'rain' },
        'outside:holder': 'x',
        instances: { a: 'b' },
        'instance:1': '{}',
      },
    ],
  ] as [string, Record<string, string | Record<string, string>>][])(
    'leaves keys of an application under the same prefix and tag: %s',
    async (_, theirs) => {
      await client.flushall();
      await built('products', idsOf('a', 30), 'app');
      const names = Object.keys(theirs)
        .map((rest) => `app:{products}:${rest}`)
        .sort();
      for (const [rest, value] of Object.entries(theirs)) {
        const key = `app:{products}:${rest}`;
        await client.del(key);
        await (typeof value === 'string' ? client.set(key, value) : client.hset(key, value));
      }
      await unread('app:{products}');
      const { stdout, code } = await on('drop', 'products', '--prefix', 'app', '--yes');
      expect(code).toBe(0);
      expect(stdout).toContain(`${plural(names.length, 'key')} not certain to be of this filter: `);
      expect((await client.keys('*')).sort()).toEqual(names);
      for (const [rest, value] of Object.entries(theirs).filter(([, one]) => typeof one === 'string'))
        expect(await client.get(`app:{products}:${rest}`)).toBe(value);
    },
  );

  it('deletes nothing without metadata, which alone say what is of the filter', async () => {
    await client.flushall();
    await built('bare', idsOf('a', 30));
    await client.del('bloom:{bare}:meta');
    await client.hset('bloom:{app}:meta', 'format', 'png');
    await client.hset('bloom:{later}:meta', 'format', 99, 'state', 'ready');
    const before = (await client.keys('*')).sort();
    for (const name of ['bare', 'app', 'later']) {
      const { stderr, code } = await on('drop', name, '--yes', '--force');
      expect([code, stderr]).toEqual([1, expect.stringContaining('none of these keys is certain')]);
    }
    expect((await client.keys('*')).sort()).toEqual(before);
  });

  it('deletes the parts of a filter that have metadata, and no keys that have but the name of a part', async () => {
    await partitioned('divided');
    await client.del('bloom:{divided}:meta');
    const theirs = [`bloom:{${partName('divided', 7)}}:0`, 'bloom:{divided#1.99}:meta'];
    await client.set(theirs[0]!, 'x');
    await client.copy(`bloom:{${partName('divided', 1)}}:meta`, theirs[1]!);
    await built('divided2', ['a']);
    const stay = [...(await client.keys('bloom:{divided}:*')), ...theirs].sort();
    await unread('bloom:{divided[}#]');
    const { stderr, code } = await on('drop', 'divided', '--yes');
    expect([code, stderr]).toEqual([0, '']);
    expect((await client.keys('bloom:{divided[}#]*')).sort()).toEqual(stay);
    expect(await client.exists('bloom:{divided2}:meta')).toBe(1);
  });

  it('leaves the key of another system', async () => {
    await client.hset('{legacy}:nestjs-bloom:meta', 'format', 2, 'state', 'unbuilt');
    await client.set('legacy', 'of others');
    await client.set('{legacy}:nestjs-bloom:1', 'of others');
    await unread('{legacy}');
    const { stdout, code } = await on('drop', 'old', '--key', 'legacy', '--yes');
    expect([code, stdout]).toEqual([0, expect.stringContaining('the key legacy itself')]);
    expect((await client.keys('*legacy*')).sort()).toEqual(['legacy', '{legacy}:nestjs-bloom:1']);
  });

  it('refuses while a process without a heartbeat reads the metadata', async () => {
    const { filter } = await built('read', ['a']);
    let isEnded = false;
    const reader = (async () => {
      while (!isEnded) await filter.describe().then(() => pause(100));
    })();
    const { code, stderr } = await on('drop', 'read', '--yes');
    isEnded = true;
    await reader;
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('Nothing was deleted: a process reads its metadata'),
    ]);
    expect(stderr).toContain('Waiting for up to 15 seconds');
    expect(await client.exists('bloom:{read}:meta')).toBe(1);
  });

  it('says where the server does not tell when a key was read', async () => {
    const frequency = await RedisFixture.start(['--maxmemory-policy', 'allkeys-lfu']);
    try {
      await build((await frequency.open('lfu')).filter, ['a']);
      const result = await runHere(['drop', 'lfu', '--yes', '--redis', frequency.server.url]);
      expect(result.code).toBe(0);
      expect(result.stderr).toContain('does not say when a key was read last');
    } finally {
      await frequency.close();
    }
  });

  it('refuses while processes report on the filter or rebuild it, unless it is forced', async () => {
    const { filter } = await built('used', ['a']);
    const [one, two] = ['0123456789abcdef', 'fedcba9876543210'];
    await filter.board!.beat({ instance: one!, text: '{}', lifeMs: 60_000 });
    const lease = await leaseOf(filter, 60_000);
    await unread('bloom:{used}');
    const refused = await on('drop', 'used', '--yes');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(
      '1 process reported on it within the last seconds and a process rebuilds it',
    );
    expect(await client.exists('bloom:{used}:meta')).toBe(1);
    await lease.release();
    await filter.board!.leave(one!);
    await filter.board!.beat({ instance: two!, text: '{}', lifeMs: 60_000 });
    await unread('bloom:{used}');
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
      await unread('bloom:{spread', cluster.client());
      const { stdout, stderr } = await runHere(['drop', 'spread', '--yes', ...words]);
      expect([stderr, stdout]).toEqual(['', expect.stringContaining('keys deleted')]);
      expect(await cluster.client().keys('*')).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
      await cluster.close();
    }
  });
});
