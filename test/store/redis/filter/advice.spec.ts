import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { size } from '../../../../src/common/index.js';
import type { AdvisedFilter } from '../../../../src/store/index.js';
import { RedisFixture } from '../../../support/redis-fixture.js';

const MEGABYTE = 1 << 20;

describe('The inspection of a server', () => {
  let redis: RedisFixture;
  let admin: Redis;

  beforeAll(async () => {
    redis = await RedisFixture.start();
    admin = redis.client();
  });

  afterAll(() => redis.close());

  async function advice(filter: Partial<Omit<AdvisedFilter, 'onIncomplete'>> = {}, url = redis.server.url) {
    const { filter: inStore, close } = await redis.open(redis.name(), { redis: url });
    const texts = await inStore.advise({ bytes: MEGABYTE, hasSource: true, drainMs: 10_000, ...filter });
    await close();
    return texts;
  }

  it('has nothing to say of a plain server, and leaves no key there', async () => {
    expect(await advice()).toEqual([]);
    expect(await admin.keys('*')).toEqual([]);
  });

  it('warns of an eviction policy that may drop the filter, and of one that may not it does not', async () => {
    await admin.config('SET', 'maxmemory', String(100 * MEGABYTE));
    await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
    expect(await advice()).toEqual([expect.stringContaining('maxmemory-policy allkeys-lru')]);
    await admin.config('SET', 'maxmemory-policy', 'volatile-lru');
    expect(await advice()).toEqual([]);
    await admin.config('SET', 'maxmemory-policy', 'volatile-lfu');
    expect(await advice()).toEqual([]);
    await admin.config('SET', 'maxmemory', '0');
  });

  it.each(['volatile-ttl', 'volatile-random'])(
    'warns of a policy that evicts a rebuild: %s',
    async (policy) => {
      await admin.config('SET', 'maxmemory', String(100 * MEGABYTE));
      await admin.config('SET', 'maxmemory-policy', policy);
      expect(await advice()).toEqual([expect.stringContaining(`the new keys of a rebuild, which expire`)]);
      expect((await advice())[0]).toContain(`(maxmemory-policy ${policy})`);
      await admin.config('SET', 'maxmemory', '0');
      expect(await advice()).toEqual([]);
      await admin.config('SET', 'maxmemory-policy', 'noeviction');
    },
  );

  it('warns of a drain that is shorter than an add may take', async () => {
    expect(await advice({ drainMs: 9_999 })).toEqual([
      expect.stringContaining('drainMs is 9999, and an add alone may take writeTimeoutMs, 10000'),
    ]);
    expect(await advice({ drainMs: 9_999, hasSource: false })).not.toContainEqual(
      expect.stringContaining('drainMs'),
    );
  });

  it('warns of a drain that is shorter than an add may take that waits for readers', async () => {
    const leaseMs = 1000;
    expect(await advice({ drainMs: 11_999, leaseMs })).toEqual([
      expect.stringContaining('Set drainMs to more than 12000'),
    ]);
    expect(await advice({ drainMs: 12_000, leaseMs })).toEqual([]);
  });

  it('warns when two generations have no room', async () => {
    await admin.config('SET', 'maxmemory', String(100 * MEGABYTE));
    expect(await advice({ bytes: 60 * MEGABYTE })).toEqual([
      expect.stringContaining(`${size(120 * MEGABYTE)}; maxmemory is ${size(100 * MEGABYTE)}`),
    ]);
    await admin.config('SET', 'maxmemory', '0');
  });

  it('warns when a filter that cannot be rebuilt may lose ids in a restart', async () => {
    expect(await advice({ hasSource: false })).toEqual([expect.stringContaining('Set appendonly yes')]);
    expect(await advice({ hasSource: false })).toEqual([
      expect.stringContaining('stays unknown until reset()'),
    ]);
    expect(await advice({ hasSource: false, isCreatedAutomatically: true })).toEqual([
      expect.stringMatching(/created again, empty, and answers "absent" .* Set create: 'explicit'/),
    ]);
    await admin.config('SET', 'appendonly', 'yes');
    expect(await advice({ hasSource: false })).toEqual([]);
    await admin.config('SET', 'appendonly', 'no');
  });

  it('names each command that the user may not run', async () => {
    await admin.call(
      'ACL',
      'SETUSER',
      'app',
      'on',
      '>secret',
      '~bloom:*',
      '~shop:*',
      '+@all',
      '-bitop',
      '-rename',
    );
    const url = redis.server.url.replace('redis://', 'redis://app:secret@');
    const texts = await advice({}, `${url}?keyPrefix=shop:`);
    expect(texts).toEqual([
      expect.stringMatching(/BITOP: .* ACL SETUSER <user> \+bitop$/),
      expect.stringMatching(/RENAME on key 'shop:.* ACL SETUSER <user> \+rename '~shop:bloom:\{[^}]*\}\*'$/),
    ]);
    for (const text of texts)
      await admin.call('ACL', 'SETUSER', 'app', ...text.split('<user> ')[1]!.replaceAll("'", '').split(' '));
    expect(await advice({}, url)).toEqual([]);
    await admin.call('ACL', 'DELUSER', 'app');
  });
});
