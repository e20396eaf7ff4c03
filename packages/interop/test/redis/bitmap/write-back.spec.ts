import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { guava } from '../../../src/index.js';
import { runRebuild } from '../../../../../src/rebuild/index.js';
import { idsOf } from '../../../../../test/support/built-filter.js';
import { expectFound } from '../../../../../test/support/never-absent.js';
import { EVERY_PEER, PEER_TARGET } from '../../support/peers/every-peer.js';
import { fillByPeer } from '../../support/peers/peer.js';
import { guavaPeer } from '../../support/peers/guava-peer.js';
import { heldSource, rebuildJob, sourceOf } from '../../../../../test/support/rebuild-job.js';
import { RedisFixture } from '../../../../../test/support/redis-fixture.js';

const BUILT = idsOf('built', 50);

describe.each(EVERY_PEER.map((peer) => [peer.name, peer] as const))(
  'A peer of %s puts back a string that it has read before',
  (_, peer) => {
    let redis: RedisFixture;
    let admin: Redis;
    beforeAll(async () => {
      redis = await RedisFixture.start();
      admin = redis.client();
    });
    afterAll(() => redis.close());

    async function filled(hasSource = false) {
      const key = redis.name();
      await fillByPeer(peer, admin, key, BUILT);
      const open = async () => (await redis.open(key, {}, { layout: peer.layout(key), hasSource })).filter;
      const [filter, other] = [await open(), await open()];
      if (hasSource) await runRebuild(rebuildJob(filter, sourceOf(BUILT)));
      await expectFound([filter, other], BUILT);
      return { key, filter, other };
    }

    it('and what was added meanwhile is unknown, not absent', async () => {
      const { key, filter, other } = await filled();
      const read = (await admin.getBuffer(key))!;
      await filter.add(['added']);
      await admin.set(key, read);
      expect(await other.check(['added'])).toEqual(['unknown']);
      expect(await filter.check(['added', ...BUILT])).not.toContain('absent');
      expect((await filter.describe()).state).toBe('lost');
    });

    it('and an add that comes next does not hide it', async () => {
      const { key, filter, other } = await filled();
      const read = (await admin.getBuffer(key))!;
      await filter.add(['added']);
      await admin.set(key, read);
      await other.add(['next']).catch(() => {});
      for (const one of [filter, other]) expect(await one.check(['added', 'next'])).not.toContain('absent');
    });

    it('but one that has all of it is the same filter', async () => {
      const { key, filter, other } = await filled();
      await filter.add(idsOf('added', 30));
      await admin.set(key, (await admin.getBuffer(key))!);
      await peer.add(admin, key, 'there');
      await expectFound([filter, other], [...BUILT, ...idsOf('added', 30), 'there']);
      expect(await other.check(['x', 'y'])).toEqual(['absent', 'absent']);
    });

    it.each(['before', 'during'])(
      'after a rebuild: what was added %s it is unknown, not absent',
      async (when) => {
        const { key, filter, other } = await filled(true);
        const read = (await admin.getBuffer(key))!;
        if (when === 'before') await filter.add(['added']);
        const held = heldSource(BUILT);
        const run = runRebuild(rebuildJob(filter, held.source));
        await held.reached;
        if (when === 'during') await filter.add(['added']);
        held.release();
        await run;
        await expectFound([filter, other], ['added', ...BUILT]);
        await admin.set(key, read);
        for (const one of [other, filter]) expect(await one.check(['added'])).toEqual(['unknown']);
      },
    );

    it('while a rebuild runs: what was added before it or meanwhile is there', async () => {
      const { key, filter, other } = await filled(true);
      const read = (await admin.getBuffer(key))!;
      await filter.add(['before']);
      const held = heldSource([...BUILT, 'before']);
      const run = runRebuild(rebuildJob(filter, held.source));
      await held.reached;
      await filter.add(['meanwhile']);
      await admin.set(key, read);
      for (const one of [filter, other]) {
        expect(await one.check(['before', 'meanwhile', ...BUILT])).not.toContain('absent');
      }
      held.release();
      await run.catch(() => runRebuild(rebuildJob(filter, sourceOf([...BUILT, 'before', 'meanwhile']))));
      await expectFound([filter, other], ['before', 'meanwhile', ...BUILT]);
    });

    it('while a rebuild runs and nobody looks: what another peer has added meanwhile is not absent', async () => {
      const { key, filter, other } = await filled(true);
      const held = heldSource(BUILT);
      const run = runRebuild(rebuildJob(filter, held.source));
      await held.reached;
      const read = (await admin.getBuffer(key))!;
      await peer.add(admin, key, 'of a peer');
      await filter.add(['from here']);
      await admin.set(key, read);
      held.release();
      await expect(run).rejects.toThrow(/replaced during the rebuild/);
      expect(await other.check(['of a peer'])).toEqual(['unknown']);
      await runRebuild(rebuildJob(filter, sourceOf([...BUILT, 'from here', 'of a peer'])));
      await expectFound([filter, other], ['from here', 'of a peer', ...BUILT]);
    });

    it('while a rebuild runs and somebody looks first: what another peer has added meanwhile is not absent', async () => {
      const { key, filter, other } = await filled(true);
      const held = heldSource(BUILT);
      const run = runRebuild(rebuildJob(filter, held.source));
      await held.reached;
      const read = (await admin.getBuffer(key))!;
      await peer.add(admin, key, 'of a peer');
      await filter.add(['from here']);
      await admin.set(key, read);
      expect(await other.check(['nobody'])).toEqual(['unknown']);
      held.release();
      await expect(run).rejects.toThrow(/replaced during the rebuild/);
      expect(await other.check(['of a peer'])).toEqual(['unknown']);
      await runRebuild(rebuildJob(filter, sourceOf([...BUILT, 'from here', 'of a peer'])));
      await expectFound([filter, other], ['from here', 'of a peer', ...BUILT]);
    });
  },
);

describe('A Guava peer that reads the filter, adds and writes it back', () => {
  it('rebuildCapacity away what was added here meanwhile: unknown, and whole again after a rebuild', async () => {
    const redis = await RedisFixture.start();
    try {
      const admin = redis.client();
      const peer = guavaPeer(PEER_TARGET);
      const { filter } = await redis.open('shared', {}, { layout: peer.layout('shared') });
      await runRebuild(rebuildJob(filter, sourceOf(BUILT)));
      const copy = guava.read((await admin.getBuffer('shared'))!, { funnel: 'stringFunnel' });
      copy.add('there');
      await filter.add(['here']);
      await admin.set('shared', Buffer.from(copy.write()));
      expect(await filter.check(['here', 'there', ...BUILT])).not.toContain('absent');
      await runRebuild(rebuildJob(filter, sourceOf([...BUILT, 'here'])));
      await expectFound([filter], [...BUILT, 'here', 'there']);
    } finally {
      await redis.close();
    }
  });
});
