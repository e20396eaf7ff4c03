import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { BloomRebuildError } from 'nestjs-bloom/store';
import type { ForeignAdds } from '../../../src/index.js';
import { runRebuild } from '../../../../../src/rebuild/index.js';
import { commitIds, idsOf, leaseOf, mergeIds, testPlan } from '../../../../../test/support/built-filter.js';
import { eventually } from '../../../../../test/support/eventually.js';
import { expectFound, expectNeverAbsent } from '../../../../../test/support/never-absent.js';
import type { Peer } from '../../support/peers/peer.js';
import { heldSource, rebuildJob, sourceOf } from '../../../../../test/support/rebuild-job.js';
import { RedisFixture } from '../../../../../test/support/redis-fixture.js';

const BUILT = idsOf('built', 100);
const ROUNDS = 6;
const LEAST_IDS = 150;
/** Its holder notices within a third of it that it is lost. */
const LEASE_MS = 2000;

/** Rebuilds of a filter whose key peers read and write all the time. */
export function describePeersRebuild(peer: Peer): void {
  describe(`A rebuild on the keys of ${peer.name}`, () => {
    let redis: RedisFixture;
    let admin: Redis;

    beforeAll(async () => {
      redis = await RedisFixture.start();
      admin = redis.client();
    });
    afterAll(() => redis.close());

    const open = async (key: string, foreignAdds?: ForeignAdds) => {
      const layout = peer.layout(key, foreignAdds && { foreignAdds });
      return (await redis.open(key, {}, { layout, hasSource: true })).filter;
    };

    async function built(foreignAdds?: ForeignAdds) {
      const key = redis.name();
      const filter = await open(key, foreignAdds);
      await runRebuild(rebuildJob(filter, sourceOf(BUILT)));
      return { key, filter };
    }

    it('keeps what is added on both sides while it runs', async () => {
      const { key, filter } = await built();
      const other = await open(key);
      const held = heldSource(idsOf('read', 50));
      const run = runRebuild(rebuildJob(filter, held.source));
      await held.reached;
      expect(await other.add(['here', 'built-1'])).toEqual([true, false]);
      await peer.add(admin, key, 'there');
      expect(await other.check(['here', 'there', 'nowhere'])).toEqual(['maybe', 'maybe', 'absent']);
      held.release();
      expect(await run).toMatchObject({ outcome: 'published', ids: 50 });
      await expectFound([filter, other], ['here', 'there', ...idsOf('read', 50)]);
      for (const id of ['here', 'there', 'read-1']) expect(await peer.has(admin, key, id)).toBe(true);
    });

    it("sheds deleted ids only if it is told to keep none of the peers'", async () => {
      for (const [foreignAdds, deleted] of [
        ['keep', 'maybe'],
        ['none', 'absent'],
      ] as const) {
        const { key, filter } = await built(foreignAdds);
        const held = heldSource(['read']);
        const run = runRebuild(rebuildJob(filter, held.source, { minRatio: 0 }));
        await held.reached;
        await filter.add(['here']);
        await peer.add(admin, key, 'there');
        held.release();
        await run;
        const verdicts = await filter.check(['read', 'here', 'built-1', 'built-2']);
        expect(verdicts).toEqual(['maybe', 'maybe', deleted, deleted]);
        expect(await filter.check(['there'])).toEqual([deleted]);
        const left = await admin.keys(`*${key}}:nestjs-bloom:*`);
        expect(left).toEqual([`{${key}}:nestjs-bloom:meta`]);
      }
    });

    it('gathers no canaries over many generations', async () => {
      const { key, filter } = await built();
      const meta = `{${key}}:nestjs-bloom:meta`;
      const first = await admin.hget(meta, 'canaries');
      const bits = await admin.bitcount(key);
      for (let round = 0; round < 3; round++) await runRebuild(rebuildJob(filter, sourceOf(BUILT)));
      expect(await admin.hget(meta, 'canaries')).toBe(first);
      expect(await admin.bitcount(key)).toBe(bits);
    });

    it('keeps the life of a key that expires', async () => {
      const { key, filter } = await built();
      await admin.pexpire(key, 60_000);
      await runRebuild(rebuildJob(filter, sourceOf(BUILT)));
      expect(await admin.pttl(key)).toBeGreaterThan(30_000);
    });

    it('leaves the live filter as it was when it is aborted', async () => {
      const { key, filter } = await built();
      const lease = await leaseOf(filter);
      const staging = await lease.stage(testPlan());
      expect((await filter.describe()).rebuilding).toBe(true);
      await mergeIds(staging, ['staged']);
      expect(await staging.check(['staged', 'built-1'])).toEqual(['maybe', 'absent']);
      await staging.abort();
      await lease.release();
      expect(await filter.check(['staged', 'built-1'])).toEqual(['absent', 'maybe']);
      expect(await admin.keys(`*${key}}:nestjs-bloom:*`)).toEqual([`{${key}}:nestjs-bloom:meta`]);
    });

    it('that lost its lease changes nothing', async () => {
      const { key, filter } = await built();
      const lease = await leaseOf(filter, LEASE_MS);
      const staging = await lease.stage(testPlan());
      await mergeIds(staging, ['staged']);
      await admin.set(`{${key}}:nestjs-bloom:lease`, 'another');
      await expect(staging.commit(1)).rejects.toThrow(BloomRebuildError);
      await eventually('the lease is known to be lost', () => lease.signal.aborted);
      await expect(mergeIds(staging, ['more'])).rejects.toThrow(/lease/);
      expect(await filter.check(['staged', 'built-1'])).toEqual(['absent', 'maybe']);
    });

    it('that died leaves a filter that answers, and one that the next run replaces', async () => {
      const { key, filter } = await built();
      const dead = await leaseOf(filter, LEASE_MS);
      await mergeIds(await dead.stage(testPlan()), ['staged']);
      await filter.add(['meanwhile']);
      // Its timers stop with it; the lease and the staged key expire.
      await admin.del(`{${key}}:nestjs-bloom:lease`, ...(await admin.keys(`*${key}}:nestjs-bloom:next:*`)));
      await filter.add(['later']);
      expect((await filter.describe()).rebuilding).toBe(false);
      expect(await filter.check(['built-1', 'meanwhile', 'later'])).toEqual(['maybe', 'maybe', 'maybe']);
      await runRebuild(rebuildJob(filter, sourceOf([...BUILT, 'meanwhile', 'later'])));
      await expectFound([filter], [...BUILT, 'meanwhile', 'later']);
    });

    it('whose staged key vanished does not go live', async () => {
      const { key, filter } = await built();
      const lease = await leaseOf(filter);
      const staging = await lease.stage(testPlan());
      await admin.del(...(await admin.keys(`*${key}}:nestjs-bloom:next:*`)));
      await expect(commitIds(staging, ['a'])).rejects.toThrow(BloomRebuildError);
      await lease.release();
      await expectFound([filter], BUILT);
    });

    it('waits for no second one', async () => {
      const { filter } = await built();
      const held = heldSource(BUILT);
      const run = runRebuild(rebuildJob(filter, held.source));
      await held.reached;
      expect(await runRebuild(rebuildJob(filter, sourceOf(BUILT)))).toMatchObject({ outcome: 'skipped' });
      held.release();
      await run;
    });

    it('loses no id of either side, again and again, under adds and lookups of both', async () => {
      const { key, filter } = await built();
      const other = await open(key);
      const known: string[] = [...BUILT];
      let wrongAbsents = 0;
      let running = true;
      const judge = async (found: readonly boolean[]) => {
        wrongAbsents += found.filter((one) => !one).length;
      };
      const adder = async (name: string, add: (id: string) => Promise<unknown>) => {
        for (let i = 0; running; i++) {
          await add(`${name}-${i}`);
          known.push(`${name}-${i}`);
        }
      };
      const reader = async (look: (ids: readonly string[]) => Promise<boolean[]>) => {
        while (running) await judge(await look(sample(known)));
      };
      const throughFilter = (ids: readonly string[]) =>
        other.check(ids).then((verdicts) => verdicts.map((verdict) => verdict !== 'absent'));
      const throughPeer = (ids: readonly string[]) => Promise.all(ids.map((id) => peer.has(admin, key, id)));
      const traffic = [
        adder('here', (id) => other.add([id])),
        adder('there', (id) => peer.add(admin, key, id)),
        reader(throughFilter),
        reader(throughPeer),
      ];
      try {
        // The rows of both sides are visible at once: a row is known when its add is acknowledged.
        for (let round = 0; round < ROUNDS || known.length <= LEAST_IDS; round++)
          await runRebuild(rebuildJob(filter, sourceOf([...known])));
      } finally {
        running = false;
        await Promise.all(traffic);
      }
      expect(wrongAbsents).toBe(0);
      await expectNeverAbsent([filter, other], known);
      await judge(await throughPeer(known));
      expect(wrongAbsents).toBe(0);
    });
  });
}

function sample(ids: readonly string[]): string[] {
  return Array.from({ length: 8 }, () => ids[Math.floor(Math.random() * ids.length)]!);
}
