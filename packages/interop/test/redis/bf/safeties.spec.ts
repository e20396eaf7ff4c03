import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { BloomRebuildError } from 'nestjs-bloom/store';
import { luaSources } from '../../../../../test/support/lua-sources.js';
import { bfFixture, describeBf } from '../../../../../test/support/bf-server.js';
import { luaWithout } from '../../../../../test/support/broken-lua.js';
import { build, idsOf, leaseOf, mergeIds, testPlan } from '../../../../../test/support/built-filter.js';
import { eventually } from '../../../../../test/support/eventually.js';
import { expectFound } from '../../../../../test/support/never-absent.js';
import type { Instance, RedisFixture } from '../../../../../test/support/redis-fixture.js';
import { redisBloom } from '../../../src/index.js';

/** Some attempts, on a machine that is busy. */
const SHOWN_WITHIN_MS = 120_000;

const layout = redisBloom();
const BUILT = idsOf('built', 100);

/** Two processes on a filter that is built, and both know it. */
interface Scene {
  readonly admin: Redis;
  readonly one: Instance;
  readonly two: Instance;
  readonly base: string;
}

/**
 * Does what the safety is for; afterwards the id 'late', which was acknowledged, must not be "absent" for
 * process two.
 */
type Scenario = (scene: Scene) => Promise<void>;

async function rebuildWith(scene: Scene, during: () => Promise<unknown>): Promise<void> {
  const lease = await leaseOf(scene.one.filter);
  const staging = await lease.stage(testPlan());
  await during();
  await mergeIds(staging, BUILT);
  await staging.commit(BUILT.length);
  await lease.release();
}

const SCENARIOS: Record<string, Scenario> = {
  'add-pending-tag': (scene) => rebuildWith(scene, () => scene.two.filter.add(['late'])),

  'double-write': (scene) => rebuildWith(scene, () => scene.one.filter.add(['late'])),

  /** Paused after its last look at the lease, which is why the lease is not looked at before. */
  'swap-token': async (scene) => {
    const lease = await leaseOf(scene.one.filter);
    const slow = await lease.stage(testPlan());
    await mergeIds(slow, BUILT);
    await scene.admin.del(`${scene.base}:lease`);
    await build(scene.two.filter, BUILT);
    await scene.two.filter.add(['late']);
    await slow
      .commit(BUILT.length)
      .catch((error: unknown) => expect(error).toBeInstanceOf(BloomRebuildError));
    await lease.release();
  },

  /** A copy of the filter from before the add is put back. */
  recent: async ({ admin, one, base }) => {
    const key = base.slice(0, base.lastIndexOf(':'));
    const copy = (await admin.dumpBuffer(key))!;
    await one.filter.add(['late']);
    await admin.restore(key, 0, copy, 'REPLACE');
  },

  /** The same of the staged filter, after it had taken the add from the journal. */
  replayed: async ({ admin, one, two, base }) => {
    const lease = await leaseOf(one.filter);
    const staging = await lease.stage(testPlan());
    await mergeIds(staging, BUILT);
    const staged = (await admin.keys(`${base}:next:*`)).find((key) => !key.endsWith(':journal'))!;
    const copy = (await admin.dumpBuffer(staged))!;
    await two.filter.add(['late']);
    expect(await staging.check(['late'])).toEqual(['maybe']);
    await admin.restore(staged, 0, copy, 'REPLACE');
    await staging
      .commit(BUILT.length)
      .catch((error: unknown) => expect(error).toBeInstanceOf(BloomRebuildError));
    await lease.release();
  },
};

/** The library's Lua without a safety, where its name is not that of one section. */
const TAKEN_OUT: Record<string, (lua: typeof luaSources) => typeof luaSources> = {
  'swap-token': (lua) => luaWithout('staging-token', ['bfSwap'], luaWithout('lease', ['bfSwap'], lua)),
  recent: (lua) => luaWithout('recent-ids', ['bfAdd', 'bfCheck'], lua),
};

/** Taken out in both cases, so that a scenario reaches the safety that it is about. */
const BEFORE: Record<string, () => typeof luaSources> = {
  'swap-token': () => luaWithout('lease', ['bfLoad', 'bfReplay', 'bfReserve', 'bfInsert']),
};

describeBf('Of a filter of BF.* commands, the safety', () => {
  let redis: RedisFixture;
  beforeAll(async () => {
    redis = await bfFixture();
  });
  afterAll(() => redis.close());

  async function verdictAfter(scenario: Scenario, lua: typeof luaSources) {
    const name = redis.name();
    const open = () => redis.open(name, { lua }, { layout });
    const [one, two] = [await open(), await open()];
    await build(one.filter, BUILT);
    await expectFound([one.filter, two.filter], BUILT);
    const base = `bloom:{${name}}:bf:nestjs-bloom`;
    await scenario({ admin: redis.client(), one, two, base });
    return (await two.filter.check(['late']))[0];
  }

  describe.each(Object.entries(SCENARIOS))('%s', (safety, scenario) => {
    const lua = BEFORE[safety]?.() ?? luaSources;
    const without = TAKEN_OUT[safety] ?? (() => luaWithout(safety, undefined, lua));

    it('keeps the promise', async () => {
      expect(await verdictAfter(scenario, lua)).not.toBe('absent');
    });

    it('is needed: without it an id that was acknowledged is "absent"', async () => {
      // Metadata are read again after a second, and a machine may take that long for a scenario: then nothing
      // is wrong.
      const isShown = async () => (await verdictAfter(scenario, without(lua))) === 'absent';
      await eventually('the id is wrongly absent', isShown, SHOWN_WITHIN_MS);
    });
  });
});
