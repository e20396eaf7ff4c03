import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BloomConfigError } from 'nestjs-bloom/filter';
import { doesNotStart } from '../src/cli.messages.js';
import type { Finding } from '../src/findings.js';
import { build, idsOf } from '../../../test/support/built-filter.js';
import { RedisFixture } from '../../../test/support/redis-fixture.js';
import { startRedis } from '../../../test/support/redis-server.js';
import { runHere } from './support/in-process.js';

describe('nestjs-bloom doctor', () => {
  let redis: RedisFixture;
  beforeAll(async () => {
    redis = await RedisFixture.start();
  });
  afterAll(() => redis.close());

  async function examine(url: string, ...words: string[]) {
    const { code, stdout, stderr } = await runHere(['doctor', '--json', '--redis', url, ...words]);
    const { findings } = JSON.parse(stdout || '{"findings":[]}') as { findings: Finding[] };
    const of = (severity: string) =>
      findings.filter((one) => one.severity === severity).map(({ about, text }) => `${about}: ${text}`);
    return { code, stderr, errors: of('error'), warnings: of('warning'), notes: of('note'), fine: of('ok') };
  }

  it('finds nothing on a server that is as it should be, and leaves nothing there', async () => {
    const name = redis.name();
    const { filter } = await redis.open(name);
    await build(filter, idsOf('a', 100));
    const before = await redis.client().dbsize();
    const { code, errors, warnings, notes, fine } = await examine(redis.server.url, name);
    expect({ code, errors, warnings }).toEqual({ code: 0, errors: [], warnings: [] });
    expect(notes).toEqual([expect.stringContaining('No append-only file')]);
    expect(fine).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^version: (Redis|Valkey) \d/),
        'role: master, 0 replicas',
        'permissions: all commands of a filter of kind blocked are allowed',
        expect.stringContaining('clock: The clock of the server is'),
        'proxy: no sign of one',
        `${name}: ready`,
      ]),
    );
    expect(await redis.client().dbsize()).toBe(before);
  });

  it('tells each command that a user may not run, as an error', async () => {
    await redis
      .client()
      .acl('SETUSER', 'narrow', 'on', '>pw', '~bloom:*', '+@all', '-rename', '-bitop', '-time');
    const url = redis.server.url.replace('//', '//narrow:pw@');
    const { code, errors, notes } = await examine(url);
    expect(code).toBe(2);
    for (const command of ['RENAME', 'BITOP', 'TIME'])
      expect(errors.join('\n')).toMatch(new RegExp(`permissions: .*needs, ${command}.*ACL SETUSER`));
    expect(errors.every((one) => /RENAME|BITOP|TIME/.test(one))).toBe(true);
    expect(notes.join()).toContain('TIME is refused');
    const elsewhere = await examine(url, '--prefix', 'other');
    expect(elsewhere.errors.join()).toContain('other:{doctor}:probe');
  });

  it('warns of what evicts, and says when a rebuild has no room', async () => {
    const server = await startRedis({
      args: ['--maxmemory', '20mb', '--maxmemory-policy', 'allkeys-lru', '--appendonly', 'yes'],
    });
    const fixture = RedisFixture.at(server.url);
    try {
      const name = fixture.name();
      const { filter } = await fixture.open(name);
      await build(filter, ['a'], { capacity: 1_000_000, errorRate: 1e-6 });
      const first = await examine(server.url, name);
      expect(first).toMatchObject({ code: 1, errors: [], notes: [] });
      expect(first.warnings).toEqual([
        expect.stringMatching(/eviction: BLOOM_EVICTABLE: maxmemory-policy allkeys-lru .* Set noeviction/),
      ]);
      const client = fixture.client();
      await client.config('SET', 'maxmemory-policy', 'noeviction');
      await client.config('SET', 'maxmemory', '8mb');
      const second = await examine(server.url, name);
      expect(second.code).toBe(2);
      expect(second.errors).toEqual([
        expect.stringMatching(
          new RegExp(`room for ${name}: BLOOM_MEMORY_TOO_SMALL: a rebuild needs .* it fails with no-memory`),
        ),
      ]);
      await fixture.close();
    } finally {
      await server.stop();
    }
  });

  it('tells a replica, a filter that is lost, keys that expire, and what was left for ever', async () => {
    const name = redis.name();
    const { filter } = await redis.open(name);
    await build(filter, ['a']);
    const client = redis.client();
    await client.pexpire(`bloom:{${name}}:0`, 500_000);
    await client.set(`bloom:{${name}}:old:dead:0`, 'x');
    const { errors, warnings } = await examine(redis.server.url, name, 'nobody');
    expect(errors).toEqual([expect.stringContaining(`${name}: Keys of the live generation expire`)]);
    expect(warnings).toEqual([
      expect.stringContaining(`${name}: retired generation: 1 key, 1 bytes, which do not expire`),
      expect.stringContaining('nobody: missing: There are no metadata'),
    ]);
    const replica = await startRedis({ args: ['--replicaof', redis.server.host, String(redis.server.port)] });
    try {
      const onReplica = await examine(replica.url);
      expect([onReplica.code, onReplica.errors.join()]).toEqual([
        2,
        expect.stringContaining('role: BLOOM_SERVER_IS_REPLICA: It is a replica'),
      ]);
    } finally {
      await replica.stop();
    }
  });

  it('counts a server that cannot be reached as an error, and a mistyped option as none of a server', async () => {
    expect(await examine('redis://127.0.0.1:1')).toMatchObject({
      code: 2,
      errors: [expect.stringContaining('Cannot reach Redis')],
    });
    const { stderr, code } = await runHere(['doctor', '--kind', 'bits', '--redis', redis.server.url]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('Expected --kind to be one of blocked, scaling'),
    ]);
  });

  it('names the code of what keeps an application from starting, and where that is explained', () => {
    const text = doesNotStart('app.js', new BloomConfigError('Expected a name.'));
    expect(text).toMatch(
      /^The application of app\.js does not start: BLOOM_CONFIG: Expected a name\. https:\S+#bloom_config$/,
    );
  });

  it('prints a line for each finding, with the address that explains its code, and how many are bad', async () => {
    const { stdout } = await runHere(['doctor', '--redis', redis.server.url]);
    expect(stdout).toMatch(/^ok {7}node {9}Node \d/);
    expect(stdout).toMatch(
      /^note.* BLOOM_NO_APPEND_ONLY_FILE: .* https:\S+\/docs\/messages\.md#bloom_no_append_only_file$/m,
    );
    expect(stdout.trimEnd().split('\n').at(-1)).toBe('0 errors, 0 warnings');
  });
});
