import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import type { RebuildLease, Staging } from 'nestjs-bloom/store';
import { build, idsOf, leaseOf, mergeIds, testPlan } from '../../../test/support/built-filter.js';
import { eventually } from '../../../test/support/eventually.js';
import { commandCounts, type Instance, RedisFixture } from '../../../test/support/redis-fixture.js';
import { run } from './support/command.js';
import { runHere } from './support/in-process.js';
import { type InstalledPackage, installPackage } from './support/installed-package.js';
import { scaling } from '@nestjs-bloom/interop/scaling';

let redis: RedisFixture;
let client: Redis;
let name: string;
let instance: Instance;
beforeAll(async () => {
  redis = await RedisFixture.start();
  client = redis.client();
});
afterAll(() => redis.close());
beforeEach(async () => {
  name = redis.name();
  instance = await redis.open(name, { owner: 'shop' });
});

const on = (...words: string[]) => runHere([...words, '--redis', redis.server.url]);
const inspected = async (...words: string[]) => {
  const { stdout } = await on('inspect', name, '--json', ...words);
  return JSON.parse(stdout) as Record<string, never>;
};

describe('nestjs-bloom inspect', () => {
  it('says what Redis has of a filter, and writes nothing', async () => {
    await build(instance.filter, idsOf('a', 500), { capacity: 10_000, errorRate: 0.001 });
    await instance.filter.add(['late']);
    const before = await client.hgetall(`bloom:{${name}}:meta`);
    await client.config('RESETSTAT');
    const found = await inspected();
    expect(found).toMatchObject({
      name,
      state: 'ready',
      layout: 'blocked',
      owner: 'shop',
      generation: before['tag'],
      builds: 1,
      builtIds: 500,
      count: 501,
      capacity: 10_000,
      errorRate: 0.001,
      isWalkComplete: true,
      others: [],
      live: { keys: 1, missing: 0, damaged: 0, bytes: await client.strlen(`bloom:{${name}}:0`) },
    });
    const { fill } = found as unknown as { fill: { share: number; blocks: number } };
    // 501 ids of 10 bits, in blocks of 2,016 bits.
    expect(fill.share * fill.blocks * 2016).toBeGreaterThan(4500);
    expect(fill.share * fill.blocks * 2016).toBeLessThanOrEqual(5010);
    expect(await client.hgetall(`bloom:{${name}}:meta`)).toEqual(before);
    const commands = Object.keys(await commandCounts(client));
    expect(
      commands.filter((one) => /^(set|hset|del|unlink|rename|persist|pexpire|append|bitop)/.test(one)),
    ).toEqual([]);
  });

  it('says which integers have a bit each, and what that says of an id', async () => {
    const ids = Array.from({ length: 500 }, (_, i) => String(i + 1));
    await build(instance.filter, [...ids, '1000000'], {
      errorRate: 0.001,
      range: { first: 1, integers: 4000 },
    });
    const { live, ...found } = await inspected();
    const { bytes } = live as { bytes: number };
    expect(found).toMatchObject({
      state: 'ready',
      layout: 'exact',
      count: 501,
      range: { first: 1, last: 4032 },
      hashCount: 10,
      // 500 of 4,032 integers, which are in two blocks.
      fill: { share: 500 / 4032, blocks: 2 },
      others: [],
    });
    expect(bytes).toBe(await client.strlen(`bloom:{${name}}:0`));
    expect(found['measuredErrorRate']).toBeLessThan(0.001);

    const { stdout } = await on('inspect', name);
    expect(stdout).toMatch(
      /layout +exact, 1 bit for each integer from 1 to 4,032, 10 bits for any other id, ids up to 64 bytes\n/,
    );
    expect(stdout).toMatch(
      /error rate .* of the absent ids outside the range pass now, none within it, 12.4 % of the bits of the range are set in 2 sampled blocks\n/,
    );
    const reasons = {
      '17': `maybe\n  The bit in block 0 of bloom:{${name}}:0, which no other id has, is set`,
      '4032': `absent\n  The bit in block 1 of bloom:{${name}}:0, which no other id has, is not set`,
      '4033': 'absent\n  Not all of its 10 bits in block ',
      '1000000': 'maybe\n  All of its 10 bits in block ',
    };
    for (const [id, reason] of Object.entries(reasons))
      expect((await on('check', name, id)).stdout).toContain(`'${id}': ${reason}`);
  });

  it('says who holds the lease, what is staged, what is left over and what is damaged', async () => {
    await build(instance.filter, idsOf('a', 10));
    const lease: RebuildLease = await leaseOf(instance.filter, 40_000);
    const staging: Staging = await lease.stage(testPlan());
    await mergeIds(staging, ['b']);
    await client.set(`bloom:{${name}}:next:dead-1:0`, 'x'.repeat(100), 'PX', 60_000);
    await client.setrange(`bloom:{${name}}:0`, 100_000, 'x');
    const token = (await client.get(`bloom:{${name}}:lease`))!.split('@')[0]!;

    const { stdout, code } = await on('inspect', name);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`staging +${token}-1: .* in 1 key \\(expire in `));
    expect(stdout).toMatch(new RegExp(`lease +held by ${token}, for \\d+ seconds unless renewed`));
    expect(stdout).toMatch(/left-over staging +100 bytes in 1 key \(expire in (59 seconds|1 minute)\)/);
    expect(stdout).toMatch(/memory .* in 1 key \(1 of another length\) \(do not expire\)/);
    await lease.release();
  });

  it('knows what processes report to each other, and does not take it for a left-over', async () => {
    await build(instance.filter, idsOf('a', 10));
    if (!instance.filter.board) throw new Error('Expected a filter in Redis to have a board.');
    const { board } = instance.filter;
    await board.setMode({ mode: 'off', by: 'Ana' }, 0);
    await board.beat({ instance: 'one', text: '{}', lifeMs: 60_000 });
    await board.recordRun({ id: 'run', text: '{}' });
    expect((await inspected())['others']).toEqual([
      expect.objectContaining({ what: 'reports of instances', keys: 4 }),
    ]);
    await board.leave('one');
    await client.del(`bloom:{${name}}:rebuilds`, `bloom:{${name}}:instances`);
    const { stdout } = await on('doctor', name);
    expect(stdout).toContain(name);
    expect(stdout).not.toContain('delete them');
    expect(stdout).not.toContain('reports of instances');
  });

  it('tells metadata that are missing, nonsense, newer or of an earlier run of the server', async () => {
    const missing = await on('inspect', name);
    expect(missing.stdout).toContain(`There are no metadata at 'bloom:{${name}}:meta'`);
    expect(missing.code).toBe(1);

    await build(instance.filter, ['a']);
    const meta = `bloom:{${name}}:meta`;
    await client.hset(meta, 'runId', 'f'.repeat(40));
    expect(await inspected()).toMatchObject({
      state: 'ready',
      note: expect.stringContaining('restarted or failed over'),
    });
    expect(await on('check', name, 'a')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('unknown'),
    });
    await client.hset(meta, 'blocks', 7);
    expect(await inspected()).toMatchObject({ state: 'nonsense' });
    await client.hset(meta, 'format', 9);
    expect(await inspected()).toMatchObject({ state: 'newer', note: expect.stringContaining('format 9') });
    expect(await client.hget(meta, 'state')).toBe('ready');
  });

  it('reads a filter that grows, and one under another prefix', async () => {
    // Room for all: an overfull filter lets an absent id pass now and then.
    const target = { capacity: 1000 };
    const { filter } = await redis.open(
      name,
      { keyPrefix: 'other*' },
      { hasSource: false, layout: scaling({ expansion: 2 }), plan: testPlan(target) },
    );
    await build(filter, [], target);
    await filter.add(idsOf('g', 300));
    const found = await inspected('--prefix', 'other*');
    expect(found).toMatchObject({ layout: 'blocked, scaling', state: 'ready', others: [] });
    expect((found as unknown as { count: number }).count).toBeGreaterThan(290);
    expect(await on('check', name, 'g-7', '--prefix', 'other*')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('maybe'),
    });
    expect(await on('check', name, 'nobody', '--prefix', 'other*')).toMatchObject({
      stdout: expect.stringContaining('absent'),
    });
  });
});

describe('nestjs-bloom check', () => {
  it('gives the verdict of a process, and its reason', async () => {
    await build(instance.filter, ['A-1', 'sku', 42n, '6f9619ff-8b86-d011-b42d-00cf4fc964ff'].map(String));
    const verdicts: (readonly [string[], string])[] = [
      [['A-1'], 'maybe'],
      [['42'], 'maybe'],
      [['A-2'], 'absent'],
      [['x'.repeat(65)], 'absent'],
      [['SKU'], 'absent'],
      [['SKU', '--normalize', 'lowercase'], 'maybe'],
      [['{6F9619FF-8B86-D011-B42D-00CF4FC964FF}', '--normalize', 'uuid'], 'maybe'],
      [['007', '--normalize', 'integer'], 'absent'],
      [['732d31', '--hex'], 'absent'],
      [['412d31', '--hex'], 'maybe'],
    ];
    for (const [words, verdict] of verdicts) {
      const { stdout, code } = await on('check', name, '--json', ...words);
      expect([words, (JSON.parse(stdout) as { verdict: string }).verdict, code]).toEqual([words, verdict, 0]);
    }
    const { stdout } = await on('check', name, 'A-2');
    expect(stdout).toMatch(
      new RegExp(`'A-2': absent\n  Not all of its \\d+ bits in block \\d+ of bloom:{${name}}:0 are set`),
    );
    expect(stdout).toContain('Asked as a process without normalize asks.');
    expect((await on('check', name, 'x', '--normalize', 'upper')).stderr).toContain(
      'uuid, lowercase, integer, nfc',
    );
    expect((await on('check', name, 'x'.repeat(65))).stdout).toContain('longer than maxIdBytes, 64');
  });

  it('takes no filter out of service for what it finds', async () => {
    await build(instance.filter, ['a']);
    await client.del(`bloom:{${name}}:0`);
    const { stdout, code } = await on('check', name, 'a');
    expect([stdout, code]).toEqual([expect.stringContaining('unknown'), 1]);
    expect(stdout).toContain('gone or damaged');
    expect(await client.hget(`bloom:{${name}}:meta`, 'state')).toBe('ready');
  });

  it('refuses an id that is none', async () => {
    const { stderr, code } = await on('check', name, '');
    expect([stderr, code]).toEqual([expect.stringMatching(/^error: BLOOM_ID: .* https:\S+#bloom_id$/m), 1]);
  });
});

describe('The connection', () => {
  let installed: InstalledPackage;
  beforeAll(() => {
    installed = installPackage({
      'redis.json': JSON.stringify({
        host: redis.server.host,
        port: redis.server.port,
        username: 'looker',
        password: 'p@ss-word',
      }),
      'broken.json': '{ "password": "p@ss-word',
    });
  });
  afterAll(() => installed.remove());

  it.each([
    { host: 5 },
    { port: 'abc' },
    { scripts: { a: null } },
    { Connector: 5 },
    { sentinels: [null], name: 'm' },
    { tls: { ca: 5 } },
    { tls: { ca: 'file:gone.pem' } },
    { cluster: [] },
    { cluster: [null] },
    { cluster: 'x' },
  ])('refuses options of a file that cannot be in one sentence: %j', async (options) => {
    const file = join(installed.folder, 'wrong.json');
    writeFileSync(file, JSON.stringify({ host: '127.0.0.1', port: 1, ...options }));
    const { code, stderr } = await runHere(['inspect', name, '--redis-options', file]);
    expect(stderr).toMatch(/^error: (Cannot reach Redis|.*[Ee]xpected )/);
    expect(stderr).not.toMatch(/\n +at /);
    expect(code).toBeGreaterThan(0);
  });

  it('takes the nodes of a cluster from a file, and no URL beside them', async () => {
    const cluster = await RedisFixture.start([
      '--cluster-enabled',
      'yes',
      '--cluster-announce-ip',
      '127.0.0.1',
    ]);
    try {
      const { host, port } = cluster.server;
      await cluster.client().call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
      await eventually('the cluster is whole', async () =>
        (await cluster.client().cluster('INFO')).includes('cluster_state:ok'),
      );
      const file = join(installed.folder, 'cluster.json');
      writeFileSync(file, JSON.stringify({ cluster: [{ host, port }] }));
      const words = ['doctor', '--redis-options', file];
      const [alone, beside] = [
        await runHere(words),
        await runHere([...words, '--redis', cluster.server.url]),
      ];
      expect([alone.code, alone.stdout]).toEqual([0, expect.stringContaining(`the server of ${file}`)]);
      expect(alone.stdout).toContain(`${host}:${port} master, 0 replicas`);
      expect([beside.code, beside.stderr]).toEqual([2, expect.stringContaining('no URL beside "cluster"')]);
    } finally {
      await cluster.close();
    }
  });

  it('takes options from a file, the environment and a URL, and never shows a password', async () => {
    await build(instance.filter, ['a']);
    await client.acl('SETUSER', 'looker', 'on', '>p@ss-word', '+@all', '~*');
    const host = `${redis.server.host}:${redis.server.port}`;
    const [file, variable, wrong, broken] = await Promise.all([
      run(installed, ['check', name, 'a', '--redis-options', 'redis.json']),
      run(installed, ['check', name, 'a'], { env: { REDIS_URL: `redis://looker:p%40ss-word@${host}/0` } }),
      run(installed, ['check', name, 'a', '--redis', `redis://looker:p%40ss-wrong@${host}`]),
      run(installed, ['check', name, 'a', '--redis-options', 'broken.json']),
    ]);
    expect([file.stdout, variable.stdout]).toEqual([
      expect.stringContaining('maybe'),
      expect.stringContaining('maybe'),
    ]);
    expect(wrong).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`Cannot reach Redis at ${host}: WRONGPASS`),
    });
    expect(broken).toMatchObject({ code: 2, stderr: expect.stringContaining('it is no JSON') });
    for (const { stdout, stderr } of [file, variable, wrong, broken])
      expect(stdout + stderr).not.toMatch(/ss-w/);
  });
});

describe('The output', () => {
  it.each([{ isTTY: false }, { isTTY: true }])(
    'writes nothing of metadata, tokens and ids that a terminal obeys (%j)',
    async (output) => {
      const evil = '\u001b[2J\u001b]0;title\u0007\u009b1A\r\nforged: ready\u202e';
      await build(instance.filter, ['a']);
      const meta = `bloom:{${name}}:meta`;
      await client.hset(meta, { owner: evil, 'pending.token': evil });
      await client.set(`bloom:{${name}}:lease`, `${evil}@run`, 'PX', 60_000);
      await client.hset(`bloom:{${name}}:builds`, { began: '5', occasion: evil });
      const words = ['--redis', redis.server.url];
      const results = [
        await runHere(['inspect', name, ...words], {}, output),
        await runHere(['inspect', name, '--json', ...words], {}, output),
        await runHere(['inspect', evil, ...words], {}, output),
        await runHere(['check', name, evil, ...words], {}, output),
        await runHere(['check', name, `a${evil}`, '--json', ...words], {}, output),
        await runHere(['doctor', name, evil, ...words], {}, output),
        await runHere([evil.replace('\n', '')], {}, output),
        await runHere(['inspect', name, '--redis', `redis://${evil.replace('\n', '')}:1`], {}, output),
        await runHere(['inspect', name, '--prefix', evil.replace('\n', ''), ...words], {}, output),
      ];
      for (const { stdout, stderr } of results) {
        // oxlint-disable-next-line no-control-regex
        const text = (stdout + stderr).replaceAll(/\u001b\[\d*m/g, '');
        // oxlint-disable-next-line no-control-regex
        expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]|^forged/m);
      }
      expect(results[0]!.stdout).toContain('\\u001b[2J\\u001b]0;title\\u0007\\u009b1A\\u000d\\u000aforged');
      expect(JSON.parse(results[1]!.stdout)).toMatchObject({ owner: evil });
    },
  );
});
