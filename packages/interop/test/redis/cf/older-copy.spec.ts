import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { setTimeout as delay } from 'node:timers/promises';
import { luaSources } from '../../../../../test/support/lua-sources.js';
import { describeOwnBf, ownBfFixture } from '../../../../../test/support/bf-server.js';
import { luaWithout } from '../../../../../test/support/broken-lua.js';
import { build, idsOf, testPlan } from '../../../../../test/support/built-filter.js';
import { expectFound } from '../../../../../test/support/never-absent.js';
import type { RedisFixture } from '../../../../../test/support/redis-fixture.js';
import { removable } from '../../../../../test/support/abilities.js';
import { cuckoo } from '../../../src/index.js';

const layout = cuckoo();
const target = { capacity: 1000, errorRate: 0.01 };
const BUILT = idsOf('built', 200);

describeOwnBf('An older copy of a cuckoo filter that is put back', () => {
  let redis: RedisFixture;
  let admin: Redis;
  beforeAll(async () => {
    redis = await ownBfFixture();
    admin = redis.client();
  });
  afterAll(() => redis.close());

  async function built(lua = luaSources) {
    const name = redis.name();
    const open = async () =>
      (await redis.open(name, { lua }, { layout, plan: testPlan(target), drainMs: 0 })).filter;
    const [one, two] = [await open(), await open()];
    await build(one, BUILT, target);
    await expectFound([one, two], BUILT);
    // A removal must have begun after the swap.
    await delay(20);
    const key = (await admin.keys(`bloom:{${name}}:cf:*`)).find((found) => /:cf:[\w-]+$/.test(found))!;
    const copy = (await admin.dumpBuffer(key))!;
    const putBack = (older: Buffer = copy) => admin.restore(key, 0, older, 'REPLACE');
    return { one, two, key, putBack };
  }

  /** Absent of another filter: an id that passes by chance proves nothing. */
  const ADDED = idsOf('added', 20);

  it.each([1, 20])('lacks %i ids that were added: no process answers "absent"', async (count) => {
    const { one, two, putBack } = await built();
    for (const id of ADDED.slice(0, count)) await one.add([id]);
    await putBack();
    for (const filter of [two, one]) {
      expect(await filter.check([...ADDED.slice(0, count), 'x', 'y', 'z'])).not.toContain('absent');
      expect((await filter.describe()).state).toBe('lost');
    }
  });

  it('is noticed also when as many ids were removed as added', async () => {
    const { one, two, putBack } = await built();
    expect(await removable(one).remove(BUILT.slice(0, 10))).toEqual(BUILT.slice(0, 10).map(() => true));
    await one.add(ADDED.slice(0, 10));
    await putBack();
    expect(await two.check(ADDED.slice(0, 10))).not.toContain('absent');
  });

  it.each(['add', 'remove'] as const)('is not hidden by what comes next: %s', async (next) => {
    const { one, two, putBack } = await built();
    await one.add(ADDED);
    await putBack();
    await (next === 'add' ? two.add(['next']) : removable(two).remove([BUILT[0]!])).catch(() => {});
    expect(await one.check(ADDED)).not.toContain('absent');
    expect(await two.check(ADDED)).not.toContain('absent');
  });

  it('of the very same filter is the same, whatever was added and removed', async () => {
    const { one, two, key, putBack } = await built();
    await one.add(ADDED);
    await two.add([...ADDED, ...ADDED, ...ADDED, ...ADDED, ...ADDED]);
    expect((await removable(one).remove([BUILT[0]!, BUILT[1]!])).length).toBe(2);
    await putBack((await admin.dumpBuffer(key))!);
    await expectFound([one, two], [...ADDED, ...BUILT.slice(2)]);
    expect(await two.check(idsOf('x', 20))).toContain('absent');
    await one.add(['more']);
    await expectFound([two], ['more']);
  });

  it('passes without the safety: ids that were acknowledged are "absent"', async () => {
    const { one, two, putBack } = await built(luaWithout('written'));
    await one.add(ADDED);
    await putBack();
    expect(await two.check(ADDED)).toContain('absent');
  });
});
