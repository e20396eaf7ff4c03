import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { setTimeout as delay } from 'node:timers/promises';
import { redisson } from '../../../src/index.js';
import { runRebuild } from '../../../../../src/rebuild/index.js';
import type { StoredFilter } from 'nestjs-bloom/store';
import { idsOf } from '../../../../../test/support/built-filter.js';
import { expectFound, expectNeverAbsent } from '../../../../../test/support/never-absent.js';
import { EVERY_PEER, PEER_TARGET } from '../../support/peers/every-peer.js';
import { type Peer, fillByPeer } from '../../support/peers/peer.js';
import { guavaPeer } from '../../support/peers/guava-peer.js';
import { redissonPeer } from '../../support/peers/redisson-peer.js';
import { heldSource, rebuildJob, sourceOf } from '../../../../../test/support/rebuild-job.js';
import { RedisFixture } from '../../../../../test/support/redis-fixture.js';
import { sideBySide } from '../../../../../test/support/side-by-side.js';
import { adoptable } from '../../../../../test/support/abilities.js';

const BUILT = idsOf('built', 50);

let redis: RedisFixture;
let admin: Redis;
beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterAll(() => redis.close());

/** What a peer does to its keys, at a bad moment. */
type Act = (peer: Peer, key: string) => Promise<unknown>;

const ACTS: Record<string, Act> = {
  'deletes the filter': (peer, key) => admin.del(...peer.keys(key)),
  'deletes the filter, recreates it and adds': async (peer, key) => {
    await admin.del(...peer.keys(key));
    await fillByPeer(peer, admin, key, idsOf('other', 40));
  },
  'deletes the string alone': (_, key) => admin.del(key),
  'puts another filter of this library in its place': async (peer, key) => {
    const another = redis.name();
    await fillByPeer(peer, admin, another, idsOf('other', 40));
    const { filter } = await redis.open(another, {}, { layout: peer.layout(another), hasSource: false });
    await expectFound([filter], idsOf('other', 40));
    await admin.rename(another, key);
  },
  'puts an empty string of the same length in its place': async (_, key) =>
    admin.set(key, Buffer.alloc(await admin.strlen(key))),
  'puts a shorter string in its place': async (_, key) =>
    admin.set(key, (await admin.getBuffer(key))!.subarray(0, 100)),
  'lets it expire': async (peer, key) => {
    for (const one of peer.keys(key)) await admin.pexpire(one, 1);
    await delay(5);
  },
  'renames it': async (peer, key) => {
    for (const one of peer.keys(key)) await admin.rename(one, `${one}:renamed`).catch(() => {});
  },
};

describe.each(EVERY_PEER.map((peer) => [peer.name, peer] as const))('A peer of %s', (_, peer) => {
  async function filled(hasSource: boolean) {
    const key = redis.name();
    await fillByPeer(peer, admin, key, BUILT);
    const open = async () => (await redis.open(key, {}, { layout: peer.layout(key), hasSource })).filter;
    const filters = [await open(), await open()] as [StoredFilter, StoredFilter];
    if (hasSource) await runRebuild(rebuildJob(filters[0], sourceOf(BUILT)));
    await expectFound(filters, BUILT);
    return { key, filters };
  }

  async function whileRebuilt(filter: StoredFilter, act: () => Promise<unknown>) {
    const held = heldSource([...BUILT, 'here']);
    const run = runRebuild(rebuildJob(filter, held.source));
    await held.reached;
    await act();
    held.release();
    return run;
  }

  const together = sideBySide();
  for (const [what, act] of Object.entries(ACTS)) {
    together(`${what} between two lookups: no id is denied, and none is lost`, async () => {
      const { key, filters } = await filled(false);
      await filters[0].add(['here']);
      await act(peer, key);
      await filters[1].add(['late']).catch(() => {});
      await expectNeverAbsent(filters, [...BUILT, 'here']);
      expect((await filters[0].describe()).state).toBe('lost');
      await expect(filters[1].add(['later'])).rejects.toThrow(/call adopt\(\)/);
    });
  }

  for (const [what, act] of Object.entries(ACTS)) {
    together(`${what} while it is rebuilt: no id is denied`, async () => {
      const { key, filters } = await filled(true);
      await whileRebuilt(filters[0], async () => {
        await filters[1].add(['here']);
        await act(peer, key);
        await filters[1].add(['late']);
        await expectNeverAbsent(filters, [...BUILT, 'here', 'late']);
      }).catch(() => {});
      await expectNeverAbsent(filters, [...BUILT, 'here', 'late']);
      // For Guava those are damaged dumps.
      if (/shorter|empty/.test(what) && peer.deletedBeforeRebuild.test('cut short')) await admin.del(key);
      await runRebuild(rebuildJob(filters[0], sourceOf([...BUILT, 'here', 'late'])));
      await expectFound(filters, [...BUILT, 'here', 'late']);
    });
  }

  together(
    'sets a life while it is rebuilt, and takes it back: the new string has what the old one had',
    async () => {
      const { key, filters } = await filled(true);
      await whileRebuilt(filters[0], () =>
        Promise.all(peer.keys(key).map((one) => admin.pexpire(one, 60_000))),
      );
      for (const one of peer.keys(key)) expect(await admin.pttl(one)).toBeGreaterThan(30_000);
      await whileRebuilt(filters[0], () => Promise.all(peer.keys(key).map((one) => admin.persist(one))));
      for (const one of peer.keys(key)) expect(await admin.pttl(one)).toBe(-1);
      await expectFound(filters, BUILT);
    },
  );
});

describe('Redisson, while its filter is rebuilt', () => {
  const peer = redissonPeer({ codec: 'StringCodec' });

  it.each([
    ['another size', redissonPeer({ codec: 'StringCodec' }, { capacity: 5000, errorRate: 0.01 })],
    ['the same size', peer],
  ])(
    'deletes it and initialises it with %s: the rebuild leaves it alone, and the next one has all ids',
    async (_, anew) => {
      const key = redis.name();
      await fillByPeer(peer, admin, key, BUILT);
      const { filter } = await redis.open(key, {}, { layout: peer.layout(key) });
      await runRebuild(rebuildJob(filter, sourceOf(BUILT)));
      const held = heldSource(BUILT);
      const run = runRebuild(rebuildJob(filter, held.source));
      await held.reached;
      await filter.add(['here']);
      await admin.del(...peer.keys(key));
      await anew.init(admin, key);
      await anew.add(admin, key, 'there');
      held.release();
      await expect(run).rejects.toThrow(/initialised the filter|vanished or was replaced/);
      expect(await filter.check([...BUILT, 'here', 'there'])).not.toContain('absent');
      expect(await anew.has(admin, key, 'there')).toBe(true);
      await runRebuild(rebuildJob(filter, sourceOf([...BUILT, 'here'])));
      await expectFound([filter], [...BUILT, 'here', 'there']);
      expect(redisson.readConfig(await admin.hgetall(redisson.keys(key).config)).capacity).toBe(
        anew === peer ? 1000 : 5000,
      );
    },
  );
});

describe('A damaged dump of Guava is left alone', () => {
  const peer = guavaPeer(PEER_TARGET);
  const DAMAGED = Buffer.from('no dump');

  it('by a rebuild, which says what to do, and goes through when that was done', async () => {
    const { filter } = await redis.open('damaged', {}, { layout: peer.layout('damaged') });
    await admin.set('damaged', DAMAGED);
    const job = rebuildJob(filter, sourceOf(BUILT));
    await expect(runRebuild(job)).rejects.toThrow(
      /key 'damaged' .* left alone: name the key of the filter, have its owner write it again, or delete it/,
    );
    expect(await admin.getBuffer('damaged')).toEqual(DAMAGED);
    expect(await filter.check(BUILT)).not.toContain('absent');
    await admin.del('damaged');
    await runRebuild(job);
    await expectFound([filter], BUILT);
  });

  it('by a filter without a source, which says so once, and believes it when its owner has written it', async () => {
    const { filter, events } = await redis.open(
      'owned',
      {},
      { layout: peer.layout('owned'), hasSource: false },
    );
    await admin.set('owned', DAMAGED);
    for (let i = 0; i < 3; i++) {
      expect(await filter.check(BUILT)).not.toContain('absent');
      await delay(260);
    }
    const told = events.filter(({ type }) => type === 'store-error');
    expect(told).toHaveLength(1);
    expect(JSON.stringify(told[0], (_, value) => (value instanceof Error ? value.message : value))).toContain(
      'have its owner write it again',
    );
    await expect(adoptable(filter).adopt()).rejects.toThrow(/have its owner write it again/);
    await fillByPeer(peer, admin, 'owned', BUILT);
    await expectFound([filter], BUILT);
  });
});
