import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { systemClock } from '../../../../src/common/index.js';
import type { BloomLayout, StoredFilter } from 'nestjs-bloom/store';
import { MemoryStore } from '../../../../src/store/memory/index.js';
import { build, commitIds, idsOf, leaseOf, testPlan } from '../../../../test/support/built-filter.js';
import { openOptions } from '../../../../test/support/open-options.js';
import { SCALING_TRAITS } from '../support/scaling-traits.js';
import { describeStoreContract } from '../../../../test/store/contract/store-contract.js';
import { removable } from '../../../../test/support/abilities.js';
import { cuckoo, goZero } from '../../src/index.js';
import { scaling } from '../../src/scaling/index.js';

function open(layout: BloomLayout): StoredFilter {
  return new MemoryStore().open(openOptions({ layout, drainMs: 0 }));
}

describeStoreContract('A filter that grows, in this process', async () => open(scaling()), SCALING_TRAITS);

describe('A filter that grows, in this process', () => {
  it('holds any number of ids within its error rate, and tells how many', async () => {
    const filter = open(scaling({ expansion: 3 }));
    await build(filter, [], { capacity: 100, errorRate: 0.01 });
    const ids = idsOf('added', 10_000);
    const added = await filter.add(ids);
    expect(new Set(await filter.check(ids))).toEqual(new Set(['maybe']));
    const found = await filter.describe();
    expect(found.count).toBe(added.filter(Boolean).length);
    expect(found.capacity).toBeGreaterThanOrEqual(found.count);
    expect(found.shape!.modelledErrorRate).toBeLessThan(0.01);
    const passed = (await filter.check(idsOf('other', 20_000))).filter((one) => one !== 'absent').length;
    const expected = 20_000 * found.shape!.modelledErrorRate;
    expect(passed).toBeLessThan(expected + 6 * Math.sqrt(expected));
    expect(filter.remove).toBeUndefined();
    await filter.close();
  });
});

describe('A cuckoo filter, in this process', () => {
  let filter: ReturnType<typeof removable>;
  beforeEach(async () => {
    filter = removable(open(cuckoo()));
  });
  afterEach(() => filter.close());
  const target = { capacity: 1000, errorRate: 0.01 };

  it('is unknown until it is built, and then tells ids from others', async () => {
    expect(await filter.check(['a'])).toEqual(['unknown']);
    expect(await filter.remove(['a'])).toEqual([false]);
    await build(filter, ['a', 'b'], target);
    expect(await filter.check(['a', 'b', 'c'])).toEqual(['maybe', 'maybe', 'absent']);
    expect(await filter.add(['c', 'c'])).toEqual([true, false]);
    expect(await filter.describe()).toMatchObject({ state: 'ready', count: 3, builtIds: 2, ...target });
    const { bytes, hashCount } = cuckoo.plan(target);
    expect((await filter.describe()).shape).toMatchObject({ bytes, hashCount });
  });

  it('removes ids of the build and ids that were added, each as often as it was', async () => {
    const ids = idsOf('id', 500);
    await build(filter, ids, target);
    await filter.add(['twice']);
    await filter.add(['twice']);
    expect(await filter.remove(ids.slice(0, 250))).toEqual(Array(250).fill(true));
    expect(new Set(await filter.check(ids.slice(250)))).toEqual(new Set(['maybe']));
    const still = (await filter.check(ids.slice(0, 250))).filter((verdict) => verdict !== 'absent');
    expect(still.length).toBeLessThan(10);
    expect(await filter.remove(['twice'])).toEqual([true]);
    expect(await filter.check(['twice'])).toEqual(['maybe']);
    expect(await filter.remove(['twice', 'twice'])).toEqual([true, false]);
    expect(await filter.check(['twice'])).toEqual(['absent']);
    expect((await filter.describe()).count).toBe(500 + 1 - 250 - 2);
  });

  it('never loses an id that cannot be told from another that is removed, however often both were added', async () => {
    await build(filter, [], { capacity: 20, errorRate: 0.3 });
    await filter.add(['a']);
    const others = idsOf('other', 50_000);
    const verdicts = await filter.check(others);
    const twins = others.filter((_, i) => verdicts[i] === 'maybe').slice(0, 12);
    expect(twins).toHaveLength(12);
    for (let round = 0; round < 3; round++) for (const twin of twins) await filter.add([twin]);
    for (let round = 0; round < 3; round++) for (const twin of twins) await filter.remove([twin]);
    expect(await filter.check(['a'])).toEqual(['maybe']);
  });

  it('does not grow when an id is added again and again, and keeps that id', async () => {
    await build(filter, [], target);
    const { bytes } = (await filter.describe()).shape!;
    for (let i = 0; i < 1000; i++) await filter.add(['again']);
    expect((await filter.describe()).shape!.bytes).toBe(bytes);
    expect(await filter.remove(['again'])).toEqual([false]);
    expect(await filter.check(['again'])).toEqual(['maybe']);
  });

  it('has an id that was removed while it was rebuilt until the build after that', async () => {
    await build(filter, ['a', 'b'], target);
    const lease = await leaseOf(filter);
    const staging = await lease.stage(testPlan(target));
    await filter.add(['added']);
    expect(await filter.remove(['a', 'added'])).toEqual([true, true]);
    expect(await filter.check(['a', 'added', 'b'])).toEqual(['absent', 'absent', 'maybe']);
    await commitIds(staging, ['a', 'b']);
    await lease.release();
    expect(await filter.check(['a', 'added', 'b'])).toEqual(['maybe', 'maybe', 'maybe']);
    await build(filter, ['b'], target);
    expect(await filter.check(['a', 'added', 'b'])).toEqual(['absent', 'absent', 'maybe']);
  });
});

describe('A cuckoo filter that was just built', () => {
  it('removes nothing until rows that were deleted meanwhile have been removed', async () => {
    let now = 0;
    const clock = { ...systemClock, now: () => now };
    const opened = openOptions({ layout: cuckoo(), drainMs: 1000, clock });
    const filter = removable(new MemoryStore().open(opened));
    await build(filter, ['a'], { capacity: 100, errorRate: 0.01 });
    now = 999;
    expect(await filter.remove(['a'])).toEqual([false]);
    now = 1000;
    expect(await filter.remove(['a'])).toEqual([true]);
    expect(await filter.check(['a'])).toEqual(['absent']);
  });
});

describe('A store in this process', () => {
  it('has no filters on keys', () => {
    expect(() => open(goZero({ key: 'products', bits: 1000 }))).toThrow(/which is that of keys in Redis/);
  });
});
