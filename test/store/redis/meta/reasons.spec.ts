import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { goZero } from '@nestjs-bloom/interop';
import { scaling } from '@nestjs-bloom/interop/scaling';
import { LookupCounts } from '../../../../src/service/index.js';
import type { BloomUnknownReason, OpenFilterOptions } from '../../../../src/store/index.js';
import type { BloomEvent } from '../../../../src/common/index.js';
import { LocalCopyStore } from '../../../../src/store/local-copy/index.js';
import { luaReplacing } from '../../../support/broken-lua.js';
import type { TestedStoreOptions } from '../../../support/lua-client.js';
import { build, idsOf, RARE } from '../../../support/built-filter.js';
import { eventually } from '../../../support/eventually.js';
import { openOptions } from '../../../support/open-options.js';
import { RedisFixture } from '../../../support/redis-fixture.js';

const BUILT = idsOf('built', 20);
const NOBODY = 'nobody';

let redis: RedisFixture;
let admin: Redis;
beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterAll(() => redis.close());

const KINDS: [kind: string, options: (name: string) => Partial<OpenFilterOptions>][] = [
  ['blocks', () => ({ replica: 'off' })],
  ['blocks, with a copy', () => ({ replica: 'verified' })],
  ['layers', () => ({ layout: scaling(), hasSource: false })],
  ['a row of bits', (name) => ({ layout: goZero({ key: `peers-${name}`, bits: 50_000 }) })],
];

/** A filter, and what is counted of it. */
async function open(
  fixture: RedisFixture,
  options: (name: string) => Partial<OpenFilterOptions>,
  stored: Partial<TestedStoreOptions> = {},
) {
  const name = fixture.name();
  const recorder = new LookupCounts();
  const { store, events } = await fixture.open(name, stored);
  const emit = (event: BloomEvent) => void events.push(event);
  const filter = new LocalCopyStore(store).open(openOptions({ name, emit, ...options(name), recorder }));
  return { name, filter, counts: () => recorder.snapshot() };
}

/** The key of the metadata, which a layout of peers names after its own key. */
async function metaOf({ name }: Opened): Promise<string> {
  const [meta] = await admin.keys(`*${name}*:meta`);
  return meta!;
}

type Opened = Awaited<ReturnType<typeof open>>;

/**
 * One lookup alone, one in a bulk and one beside others of its tick have the same reason, and each is
 * counted.
 */
async function expectReason({ filter, counts }: Opened, reason: BloomUnknownReason): Promise<void> {
  const before = counts().lookups;
  expect(await filter.checkOne(NOBODY)).toBe(reason);
  expect(await Promise.all([NOBODY, 'other'].map((id) => filter.checkOne(id)))).toEqual([reason, reason]);
  expect(await filter.check([NOBODY, 'other', 'third'])).toEqual(['unknown', 'unknown', 'unknown']);
  const { local, remote, unknown } = counts().lookups;
  expect({ local, remote }).toEqual({ local: before.local, remote: before.remote });
  expect(unknown).toEqual({ ...before.unknown, [reason]: before.unknown[reason] + 6 });
}

describe.each(KINDS)('The reason why a lookup in %s is unknown', (_, options) => {
  it('is that it was never built', async () => {
    const opened = await open(redis, options);
    expect(opened.filter.status).toEqual({ state: undefined, isCircuitOpen: false });
    await expectReason(opened, 'unbuilt');
    expect(opened.filter.status.state).toBe('unbuilt');
    expect(opened.counts().latencyMs.remote.sum).toBe(0);
  });

  it('is that it was lost', async () => {
    const opened = await open(redis, options);
    await build(opened.filter, BUILT);
    expect(await opened.filter.check([NOBODY])).toEqual(['absent']);
    const { unknown } = opened.counts().lookups;
    const meta = await metaOf(opened);
    await admin.unlink(...(await admin.keys(`*${opened.name}*`)).filter((key) => key !== meta));
    expect(await opened.filter.checkOne(NOBODY)).toBe('lost');
    expect(opened.counts().lookups.unknown).toEqual({ ...unknown, lost: 1 });
    await expectReason(opened, 'lost');
    expect(opened.filter.status.state).toBe('lost');
  });

  it('is that it is suspect, until it is built again', async () => {
    const opened = await open(redis, options);
    await build(opened.filter, BUILT);
    expect(await opened.filter.distrust('a test')).toBe(true);
    await expectReason(opened, 'suspect');
    expect(opened.filter.status.state).toBe('suspect');
    await build(opened.filter, BUILT);
    expect(await opened.filter.checkOne(NOBODY)).toBe('absent');
    expect(opened.filter.status.state).toBe('ready');
  });

  it('is that another application owns it', async () => {
    const opened = await open(redis, options, { owner: 'shop' });
    await build(opened.filter, BUILT);
    expect(await opened.filter.checkOne(NOBODY)).toBe('absent');
    await admin.hset(await metaOf(opened), 'owner', 'crm');
    await eventually('the owner is noticed', async () => (await opened.filter.checkOne(NOBODY)) !== 'absent');
    await expectReason(opened, 'other-owner');
    expect(opened.filter.status.state).toBeUndefined();
    await admin.hset(await metaOf(opened), 'owner', 'shop');
    await eventually('it is ours again', async () => (await opened.filter.checkOne(NOBODY)) === 'absent');
    expect(opened.filter.status.state).toBe('ready');
  });

  it('is that a newer version wrote it', async () => {
    const opened = await open(redis, options);
    await build(opened.filter, BUILT);
    await admin.hset(await metaOf(opened), 'format', '99');
    await eventually(
      'the format is noticed',
      async () => (await opened.filter.checkOne(NOBODY)) !== 'absent',
    );
    // Each fails: few enough that the circuit stays closed.
    const reasons = [await opened.filter.checkOne(NOBODY), await opened.filter.checkOne('other')];
    expect(reasons).toEqual(['newer-format', 'newer-format']);
    expect(opened.filter.status.state).toBeUndefined();
  });
});

describe('The reason why a lookup is unknown', () => {
  it('is that the filter was another one in each attempt', async () => {
    const lua = luaReplacing(
      'bitmapCheck',
      'local key, get',
      "if redis then return 'STALE' end local key, get",
    );
    const options = (name: string) => ({ layout: goZero({ key: `peers-${name}`, bits: 50_000 }) });
    const opened = await open(redis, options, { lua });
    await build(opened.filter, BUILT);
    expect(await opened.filter.checkOne(NOBODY)).toBe('changing');
  });

  it('is the value, where a layout of peers cannot have been asked for it', async () => {
    const opened = await open(redis, (name) => ({ layout: goZero({ key: `peers-${name}`, bits: 50_000 }) }));
    await build(opened.filter, BUILT);
    const tooLong = 'x'.repeat(100);
    expect(await opened.filter.checkOne(tooLong)).toBe('invalid-id');
    expect(await opened.filter.check([tooLong, NOBODY, BUILT[0]!])).toEqual(['unknown', 'absent', 'maybe']);
    const { remote, unknown } = opened.counts().lookups;
    expect({ remote, invalid: unknown['invalid-id'] }).toEqual({ remote: 2, invalid: 2 });
  });

  it('is first that the server does not answer in time, and then that it is not asked', async () => {
    const own = await RedisFixture.start();
    try {
      const opened = await open(own, () => ({ replica: 'off' }), { timeoutMs: 40 });
      await build(opened.filter, BUILT);
      await own.server.kill('SIGSTOP');
      const reasons: string[] = [];
      for (let i = 0; i < 5; i++) reasons.push(await opened.filter.checkOne(NOBODY));
      expect(reasons).toEqual(['timeout', 'timeout', 'timeout', 'timeout', 'timeout']);
      expect(opened.filter.status).toEqual({ state: 'ready', isCircuitOpen: true });
      // One lookup is sent now and then: on a machine that is busy it may be the next one.
      await eventually('a lookup is not sent', async () => {
        reasons.push(await opened.filter.checkOne(NOBODY));
        return reasons.at(-1) === 'circuit';
      });
      const { lookups, latencyMs } = opened.counts();
      expect(lookups.unknown).toMatchObject({ timeout: reasons.length - 1, circuit: 1, error: 0 });
      expect(latencyMs.remote.sum).toBeGreaterThanOrEqual(5 * 39);
      await own.server.kill('SIGCONT');
      await eventually('it is asked again', async () => (await opened.filter.checkOne(NOBODY)) === 'absent');
      expect(opened.filter.status.isCircuitOpen).toBe(false);
    } finally {
      await own.server.kill('SIGCONT').catch(() => {});
      await own.close();
    }
  });

  it('is that the server cannot be reached', async () => {
    const own = await RedisFixture.start();
    try {
      const opened = await open(own, () => ({ replica: 'off' }), { timeoutMs: 200 });
      await build(opened.filter, BUILT);
      await own.server.kill();
      // What was sent before the end of the connection was noticed may time out.
      await eventually('it fails', async () => (await opened.filter.checkOne(NOBODY)) === 'error');
      expect(opened.counts().lookups.unknown.error).toBe(1);
      expect(opened.counts().lookups.remote).toBe(0);
    } finally {
      await own.close();
    }
  });
});

describe('Lookups and adds', () => {
  it('are counted by whether the copy answered them or Redis', async () => {
    const opened = await open(redis, () => ({
      replica: 'verified',
      plan: { capacity: 1000, errorRate: RARE, maxIdBytes: 64 },
    }));
    await build(opened.filter, BUILT);
    await eventually('the copy answers', () => {
      const answer = opened.filter.checkOne(BUILT[0]!);
      return typeof answer === 'string';
    });
    const before = opened.counts();
    await opened.filter.checkOne(BUILT[1]!);
    await opened.filter.checkOne(NOBODY);
    await opened.filter.check([BUILT[0]!, NOBODY, BUILT[2]!]);
    await opened.filter.check(BUILT);
    const { lookups, latencyMs, batchSizes } = opened.counts();
    expect(lookups.local - before.lookups.local).toBe(1 + 2 + BUILT.length);
    expect(lookups.remote - before.lookups.remote).toBe(2);
    expect(totalOf(latencyMs.remote.counts) - totalOf(before.latencyMs.remote.counts)).toBe(2);
    expect(totalOf(latencyMs.local.counts)).toBeGreaterThan(0);
    expect(batchSizes.check.sum - before.batchSizes.check.sum).toBe(2);
  });

  it('of one tick are one call', async () => {
    const opened = await open(redis, () => ({ replica: 'off' }));
    await build(opened.filter, BUILT);
    await Promise.all(idsOf('absent', 50).map((id) => opened.filter.checkOne(id)));
    await Promise.all(idsOf('added', 30).map((id) => opened.filter.add([id])));
    await opened.filter.add(idsOf('bulk', 600));
    const { lookups, batchSizes, latencyMs } = opened.counts();
    expect(lookups).toMatchObject({ local: 0, remote: 50 });
    expect(batchSizes.check).toMatchObject({ sum: 50 });
    expect(totalOf(batchSizes.check.counts)).toBe(1);
    // The bulk is three calls: 256 ids hold the server for about a millisecond.
    expect(batchSizes.add.sum).toBe(630);
    expect(totalOf(batchSizes.add.counts)).toBe(4);
    expect(totalOf(latencyMs.add.counts)).toBe(4);
  });

  it('are counted also where an add may take several calls', async () => {
    const opened = await open(redis, () => ({ layout: scaling(), hasSource: false }));
    await build(opened.filter, BUILT);
    await opened.filter.add(idsOf('added', 10));
    expect(opened.counts().batchSizes.add.sum).toBe(10);
  });
});

function totalOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
