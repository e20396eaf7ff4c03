import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis, RedisOptions } from 'ioredis';
import { BloomRebuildError } from '../../src/common/index.js';
import { type BloomLayout, blocked } from '../../src/filter/index.js';
import { type BloomIdSource, type RebuildJob, runRebuild } from '../../src/rebuild/index.js';
import { describeOwnBf, ownBfFixture } from '../support/bf-server.js';
import { build, idsOf, RARE, testPlan } from '../support/built-filter.js';
import { eventually } from '../support/eventually.js';
import { leaveFree, MEBIBYTE, Tenant } from '../support/full-server.js';
import { heldSource, rebuildJob, sourceOf } from '../support/rebuild-job.js';
import { commandCounts, type Instance, RedisFixture } from '../support/redis-fixture.js';
import { asUser } from '../support/restricted-user.js';
import { cuckoo, goZero, redisBloom } from '@nestjs-bloom/interop';
import { scaling } from '@nestjs-bloom/interop/scaling';

/** About 10 MiB. */
const LARGE = { capacity: 8_000_000, errorRate: 0.01 };
const SMALL = { capacity: 1000, errorRate: 0.01 };
/**
 * One to two seconds on a machine that is not busy; staged keys that are left behind would take room for
 * minutes.
 */
const MOMENT_MS = 15_000;
const BUILT = idsOf('built', 50);

let redis: RedisFixture;
let admin: Redis;
let tenant: Tenant;

async function begin(start = () => RedisFixture.start()): Promise<void> {
  redis = await start();
  admin = redis.client();
  tenant = new Tenant(redis.client());
}

afterEach(async () => {
  await tenant.stop();
  await redis.close();
});

async function failureOf(instance: Instance, source: BloomIdSource, options: Partial<RebuildJob> = LARGE) {
  const job = rebuildJob(instance.filter, source, options);
  const error = await runRebuild(job, { force: true }).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(BloomRebuildError);
  return { error: error as BloomRebuildError, events: [...job.events, ...instance.events] };
}

/** A process that may not ask for the memory. */
function withoutInfo(): Promise<RedisOptions> {
  return asUser(redis, admin, ['~*', '+@all', '-info']);
}

async function keys(): Promise<string[]> {
  return (await admin.keys('*')).filter((key) => key !== 'tenant').sort();
}

interface Kind {
  readonly layout: BloomLayout;
  readonly hasSource?: boolean;
  readonly start?: () => Promise<RedisFixture>;
}

function describeKind(name: string, { layout, hasSource = true, start }: Kind): void {
  describe(`A rebuild of ${name} that does not fit`, () => {
    const opened = { layout, hasSource, drainMs: 0 };
    const smaller = {
      ...opened,
      layout: layout.kind === 'go-zero' ? goZero({ key: 'shop-products', bits: 20_000 }) : layout,
    };
    const source = sourceOf(BUILT);

    async function live(redisOptions?: RedisOptions) {
      // Bits of a size that everyone is told cannot be built smaller first.
      const { filter } = await redis.open('products', {}, smaller);
      if (layout.kind !== 'go-zero') await build(filter, BUILT, SMALL);
      const instance = await redis.open('products', redisOptions ? { redis: redisOptions } : {}, opened);
      await instance.filter.describe();
      const before = await keys();
      await leaveFree(admin, 5 * MEBIBYTE);
      tenant.start();
      return { instance, before };
    }

    beforeEach(() => begin(start));

    it('is refused before it writes anything, with the numbers, and no other tenant notices', async () => {
      const { instance, before } = await live();
      const { error } = await failureOf(instance, source);
      expect(error.reason).toBe('no-memory');
      expect(error.message).toMatch(/needs [\d.]{2,} MiB, used_memory is [\d.]+ MiB of maxmemory [\d.]+ MiB/);
      expect(error.retryAfterMs).toBeGreaterThanOrEqual(120_000);
      expect(await keys()).toEqual(before);
      expect(tenant).toMatchObject({ refused: 0 });
      expect(await instance.filter.check(BUILT)).not.toContain('absent');
    });

    it('removes at once what it has staged where it may not ask, and others wait for a moment at most', async () => {
      const { instance, before } = await live(await withoutInfo());
      const { error } = await failureOf(instance, source);
      expect(error.reason).toBe('no-memory');
      expect(error.retryAfterMs).toBeGreaterThanOrEqual(120_000);
      // Metadata that say "unbuilt" may have been made.
      expect((await keys()).filter((key) => !key.endsWith(':meta'))).toEqual(
        before.filter((key) => !key.endsWith(':meta')),
      );
      expect(tenant.longestRefusalMs).toBeLessThan(MOMENT_MS);
      await eventually('others write again', () => admin.set('more', 'x'.repeat(MEBIBYTE)).then(() => true));
    });
  });
}

describeKind('a filter of layout blocked', { layout: blocked });
describeKind('a filter on the bits of others', {
  layout: goZero({ key: 'shop-products', bits: 80_000_000 }),
});
describeKind('a filter that grows', { layout: scaling(), hasSource: false });
describeOwnBf('On a server with BF.* and CF.*', () => {
  describeKind('a filter of BF.*', {
    layout: redisBloom({ key: 'shop-products' }),
    start: ownBfFixture,
  });
  describeKind('a cuckoo filter', { layout: cuckoo(), start: ownBfFixture });
});

describe('A rebuild on a server with little memory', () => {
  beforeEach(() => begin());

  it.each([
    ['asks again', true],
    ['stages until it is refused', false],
  ])('leaves nothing of either staging when it plans for more ids and %s', async (_, mayAsk) => {
    const options = mayAsk ? {} : { redis: await withoutInfo() };
    const instance = await redis.open('products', options);
    await build(instance.filter, BUILT, SMALL);
    const before = await keys();
    await leaveFree(admin, 3 * MEBIBYTE);
    tenant.start();
    // One million ids, of four bytes each.
    const more = idsOf('more', 10_000);
    const many = sourceOf(idsOf('many', 1001), ...Array.from({ length: 100 }, () => more));
    const { error, events } = await failureOf(instance, many, { capacity: 1000, errorRate: RARE });
    expect(events).toContainEqual(expect.objectContaining({ type: 'rebuild-replanned' }));
    expect(error.reason).toBe('no-memory');
    expect(await keys()).toEqual(before);
    expect(tenant.longestRefusalMs).toBeLessThan(MOMENT_MS);
  });

  it('gives way when others need the memory while it reads the source', async () => {
    const { filter, events } = await redis.open('products');
    await build(filter, BUILT, SMALL);
    const before = await keys();
    await leaveFree(admin, 24 * MEBIBYTE);
    tenant.start();
    const { source, reached, release } = heldSource(BUILT);
    const run = failureOf({ filter, events } as Instance, source);
    await reached;
    const big = redis.client();
    // More than there is: others are refused until the staged keys are gone.
    for (let i = 0; i < 20; i++) await big.set(`big-${i}`, 'x'.repeat(MEBIBYTE)).catch(() => {});
    const { error } = await run;
    release();
    expect(error.reason).toBe('no-memory');
    expect(error.message).toContain('Others need the memory');
    expect((await keys()).filter((key) => !key.startsWith('big'))).toEqual(before);
    expect(tenant.longestRefusalMs).toBeLessThan(MOMENT_MS);
  });

  it('ends at once when Redis evicts what was staged, before it has read the source', async () => {
    await admin.config('SET', 'maxmemory-policy', 'volatile-random');
    const instance = await redis.open('products');
    await build(instance.filter, BUILT, SMALL);
    const before = await keys();
    await leaveFree(admin, 24 * MEBIBYTE);
    const { source, reached, release } = heldSource(BUILT);
    const run = failureOf(instance, source);
    await reached;
    // A look touches the lease, and the staged keys; the second one begins when the first has been judged.
    await admin.config('RESETSTAT');
    const touched = async () => (await commandCounts(admin))['touch'] ?? 0;
    await eventually('all staged keys have been seen', async () => (await touched()) >= 4);
    for (let i = 0; i < 20; i++) await admin.set(`big-${i}`, 'x'.repeat(MEBIBYTE)).catch(() => {});
    const { error } = await run;
    release();
    expect(error.reason).toBe('no-memory');
    expect(error.message).toContain('maxmemory-policy volatile-random');
    expect((await keys()).filter((key) => !key.startsWith('big'))).toEqual(before);
  });

  it.each([true, false])('leaves no part of a layer that does not fit; it may ask: %s', async (mayAsk) => {
    const layout: BloomLayout = scaling({ expansion: 1000 });
    const plan = { capacity: 8000, errorRate: 0.01 };
    const opened = { layout, plan: testPlan(plan), hasSource: false, drainMs: 0 };
    const options = mayAsk ? {} : { redis: await withoutInfo() };
    const { filter, events } = await redis.open('products', options, opened);
    await build(filter, [], plan);
    const before = await keys();
    await leaveFree(admin, 5 * MEBIBYTE);
    tenant.start();
    const ids = idsOf('added', 8200);
    await filter.add(ids);
    expect(new Set(await filter.check(ids))).toEqual(new Set(['maybe']));
    const told = events.find(({ type }) => type === 'store-error');
    expect(told).toMatchObject({ operation: 'open a layer', error: { reason: 'no-memory' } });
    expect(await keys()).toEqual(before);
    expect(tenant.longestRefusalMs).toBeLessThan(MOMENT_MS);
  });

  it('takes what fits', async () => {
    const { filter, events } = await redis.open('products');
    await build(filter, BUILT, LARGE);
    await leaveFree(admin, 24 * MEBIBYTE);
    tenant.start();
    const report = await runRebuild(rebuildJob(filter, sourceOf(BUILT), LARGE));
    expect(report).toMatchObject({ outcome: 'published' });
    expect(events.filter(({ type }) => type === 'store-error')).toEqual([]);
    expect(tenant.refused).toBe(0);
  });
});
