import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { redisson } from '../../../src/index.js';
import { runRebuild } from '../../../../../src/rebuild/index.js';
import { idsOf } from '../../../../../test/support/built-filter.js';
import { eventually } from '../../../../../test/support/eventually.js';
import { expectFound, expectNeverAbsent } from '../../../../../test/support/never-absent.js';
import { fillByPeer } from '../../support/peers/peer.js';
import { redissonPeer } from '../../support/peers/redisson-peer.js';
import { heldSource, rebuildJob, sourceOf } from '../../../../../test/support/rebuild-job.js';
import { RedisFixture } from '../../../../../test/support/redis-fixture.js';
import { adoptable } from '../../../../../test/support/abilities.js';

const BUILT = idsOf('built', 100);
const peer = redissonPeer({ codec: 'StringCodec' });
const resizing = redissonPeer({ codec: 'StringCodec' }, undefined, { resize: true });
const larger = redissonPeer({ codec: 'StringCodec' }, { capacity: 5000, errorRate: 0.001 });

let redis: RedisFixture;
let admin: Redis;

beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterAll(() => redis.close());

const configOf = (key: string) => redisson.keys(key).config;

async function adopted() {
  const key = redis.name();
  await fillByPeer(peer, admin, key, BUILT);
  const instance = await redis.open(key, {}, { layout: peer.layout(key), hasSource: false });
  await expectFound([instance.filter], BUILT);
  return { key, ...instance };
}

describe("Redisson's settings", () => {
  it('are those that a filter is taken with', async () => {
    const { filter } = await adopted();
    const found = await filter.describe();
    expect(found).toMatchObject({ capacity: 1000, errorRate: 0.001 });
    expect(found.shape).toMatchObject({
      hashCount: 10,
      bytes: Math.ceil(redisson.size({ capacity: 1000, errorRate: 0.001 }).bits / 8),
    });
  });

  it.each([
    ['are deleted', (key: string) => admin.del(configOf(key))],
    [
      'are of another type',
      (key: string) => admin.del(configOf(key)).then(() => admin.set(configOf(key), 'x')),
    ],
    ['have another size', (key: string) => admin.hset(configOf(key), 'size', '7298')],
    ['have another hash count', (key: string) => admin.hset(configOf(key), 'hashIterations', '5')],
    ['are written with a leading zero', (key: string) => admin.hset(configOf(key), 'hashIterations', '010')],
  ])('make the filter unknown when they %s', async (_, damage) => {
    const { key, filter } = await adopted();
    await damage(key);
    await expectNeverAbsent([filter], [...BUILT, 'nothing']);
    expect((await filter.describe()).state).toBe('lost');
    await expect(filter.add(['late'])).rejects.toThrow(/lost/);
  });

  it('are read again when Java has initialised the filter again', async () => {
    const { key, filter } = await adopted();
    await admin.del(...peer.keys(key));
    await fillByPeer(larger, admin, key, [...BUILT, 'new']);
    await expectNeverAbsent([filter], BUILT);
    expect(await filter.check(['nothing'])).toEqual(['unknown']);
    await adoptable(filter).adopt();
    expect(await filter.check(['built-1', 'new', 'nothing'])).toEqual(['maybe', 'maybe', 'absent']);
    await filter.add(['from here']);
    expect(await larger.has(admin, key, 'from here')).toBe(true);
  });

  it('alone are a filter to which nothing was added yet, if somebody says so', async () => {
    const key = redis.name();
    await peer.init(admin, key);
    const { filter } = await redis.open(key, {}, { layout: peer.layout(key), hasSource: false });
    expect(await filter.check(['a'])).toEqual(['unknown']);
    expect(await admin.exists(key)).toBe(0);
    await adoptable(filter).adopt();
    expect(await filter.check(['a'])).toEqual(['absent']);
    await filter.add(['a']);
    expect(await peer.has(admin, key, 'a')).toBe(true);
  });

  it.each([
    { size: '63', hashIterations: '1' },
    { size: 'x', hashIterations: '1' },
  ])('that make no sense are reported, and no filter is taken: %p', async (settings) => {
    const key = redis.name();
    await admin.hset(configOf(key), { ...settings, expectedInsertions: '10', falseProbability: '0.1' });
    await admin.set(key, 'xx');
    const { filter, events } = await redis.open(key, {}, { layout: peer.layout(key), hasSource: false });
    expect(await filter.check(['a'])).toEqual(['unknown']);
    expect(events).toEqual([expect.objectContaining({ type: 'store-error', operation: 'adopt the key' })]);
    await expect(adoptable(filter).adopt()).rejects.toThrow(/Expected/);
  });
});

describe("A rebuild of Redisson's filter", () => {
  it('leaves the size as Java has chosen it', async () => {
    const key = redis.name();
    await fillByPeer(peer, admin, key, BUILT);
    const before = await admin.hgetall(configOf(key));
    const { filter } = await redis.open(key, {}, { layout: peer.layout(key) });
    const report = await runRebuild(rebuildJob(filter, sourceOf(idsOf('many', 3000)), { capacity: 100_000 }));
    expect(report).toMatchObject({ outcome: 'published', replans: 0 });
    expect(await admin.hgetall(configOf(key))).toEqual(before);
    await expectFound([filter], [...idsOf('many', 3000), ...BUILT]);
  });

  it('writes settings and bits at once when there are none', async () => {
    const key = redis.name();
    const { filter } = await redis.open(key, {}, { layout: peer.layout(key) });
    await runRebuild(rebuildJob(filter, sourceOf(BUILT), { capacity: 500, errorRate: 0.01 }));
    expect(await admin.hgetall(configOf(key))).toEqual({
      size: '4792',
      hashIterations: '7',
      expectedInsertions: '500',
      falseProbability: '0.01',
    });
    for (const id of BUILT) expect(await peer.has(admin, key, id)).toBe(true);
    expect(await peer.add(admin, key, 'late')).toBe(true);
    expect(await filter.check(['late'])).toEqual(['maybe']);
  });

  it('may make it larger if it is told so: who reads the settings again finds everything', async () => {
    const key = redis.name();
    const { filter } = await redis.open(key, {}, { layout: resizing.layout(key) });
    const other = await redis.open(key, {}, { layout: resizing.layout(key) });
    await runRebuild(rebuildJob(filter, sourceOf(BUILT), { capacity: 200, errorRate: 0.001 }));
    await expectFound([other.filter], BUILT);
    const { size } = await admin.hgetall(configOf(key));
    const many = idsOf('many', 4000);
    const report = await runRebuild(rebuildJob(filter, sourceOf(many), { capacity: 200, errorRate: 0.001 }));
    expect(report).toMatchObject({ outcome: 'published', replans: 1 });
    expect(Number((await admin.hgetall(configOf(key))).size)).toBeGreaterThan(10 * Number(size));
    await expectFound([filter, other.filter], many);
    expect(await other.filter.check(['built-1'])).toEqual(['absent']);
    for (const id of many.slice(0, 50)) expect(await resizing.has(admin, key, id)).toBe(true);
  });

  it.each([false, true])(
    'keeps what a peer adds meanwhile only if it keeps the size that somebody has changed (resize: %p)',
    async (resizes) => {
      const key = redis.name();
      const layout = (resizes ? resizing : peer).layout(key);
      const { filter } = await redis.open(key, {}, { layout });
      await runRebuild(rebuildJob(filter, sourceOf(BUILT), { capacity: 2000, errorRate: 0.001 }));
      await admin.del(...peer.keys(key));
      await fillByPeer(peer, admin, key, BUILT);
      const held = heldSource(BUILT);
      const run = runRebuild(rebuildJob(filter, held.source, { capacity: 2000, errorRate: 0.001 }));
      await held.reached;
      await peer.add(admin, key, 'of a peer');
      await filter.add(['from here']);
      held.release();
      await run;
      await expectFound([filter], [...BUILT, 'from here']);
      // The bits of a filter of another size are elsewhere: docs/interop.md, Rebuilds.
      expect(await filter.check(['of a peer'])).toEqual([resizes ? 'absent' : 'maybe']);
    },
  );

  it('refuses when the settings were deleted meanwhile: what peers have added is in the old string alone', async () => {
    const key = redis.name();
    await fillByPeer(peer, admin, key, BUILT);
    const { filter } = await redis.open(key, {}, { layout: peer.layout(key) });
    await runRebuild(rebuildJob(filter, sourceOf(BUILT)));
    const held = heldSource(BUILT);
    const run = runRebuild(rebuildJob(filter, held.source));
    await held.reached;
    await peer.add(admin, key, 'of a peer');
    await admin.del(configOf(key));
    held.release();
    await expect(run).rejects.toThrow(/deleted its settings/);
    await expectNeverAbsent([filter], [...BUILT, 'of a peer']);
    // Its row is visible by now.
    await runRebuild(rebuildJob(filter, sourceOf([...BUILT, 'of a peer'])));
    await expectFound([filter], [...BUILT, 'of a peer']);
    for (const id of BUILT) expect(await peer.has(admin, key, id)).toBe(true);
  });

  it('refuses when Java initialised the filter again meanwhile', async () => {
    const key = redis.name();
    await fillByPeer(peer, admin, key, BUILT);
    const { filter } = await redis.open(key, {}, { layout: peer.layout(key) });
    const held = heldSource(BUILT);
    const run = runRebuild(rebuildJob(filter, held.source));
    await held.reached;
    await admin.del(...peer.keys(key));
    await fillByPeer(larger, admin, key, ['new']);
    held.release();
    await expect(run).rejects.toThrow(/initialised/);
    expect(await larger.has(admin, key, 'new')).toBe(true);
    await expectNeverAbsent([filter], [...BUILT, 'new']);
    await runRebuild(rebuildJob(filter, sourceOf(BUILT)));
    await eventually('the filter answers', async () => (await filter.check(['nothing']))[0] === 'absent');
    await expectFound([filter], [...BUILT, 'new']);
  });
});
