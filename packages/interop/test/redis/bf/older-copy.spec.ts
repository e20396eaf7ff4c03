import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { OpenFilterOptions, StoredFilter } from 'nestjs-bloom/store';
import { runRebuild } from '../../../../../src/rebuild/index.js';
import { BfFilters } from '../../support/bf-filters.js';
import { describeBf } from '../../../../../test/support/bf-server.js';
import { build, idsOf, testPlan } from '../../../../../test/support/built-filter.js';
import { expectFound } from '../../../../../test/support/never-absent.js';
import { heldSource, rebuildJob } from '../../../../../test/support/rebuild-job.js';
import { redisBloom } from '../../../src/index.js';

const BUILT = idsOf('built', 300);

describeBf('An older copy of a filter on BF.* commands that is put back', () => {
  let bf: BfFilters;
  beforeAll(async () => {
    bf = await BfFilters.start();
  });
  afterAll(() => bf.close());

  const copyOf = async (key: string): Promise<Buffer> => (await bf.admin.dumpBuffer(key))!;
  const putBack = (key: string, copy: Buffer) => bf.admin.restore(key, 0, copy, 'REPLACE');

  async function built(opened: Partial<OpenFilterOptions> = {}) {
    const { key, filters } = await bf.instances(3, opened);
    const [one, two, three] = filters as [StoredFilter, StoredFilter, StoredFilter];
    await build(one, BUILT);
    await expectFound(filters, BUILT);
    expect(await three.check(['x'])).toEqual(['absent']);
    return { key, filters, one, two, three };
  }

  async function adopted(hasMore: boolean) {
    const key = `shop-${bf.name()}`;
    await bf.call('BF.RESERVE', key, 0.001, hasMore ? 10_000 : 4);
    await bf.call('BF.MADD', key, ...BUILT.slice(0, 4));
    const { filters } = await bf.instances(2, { layout: redisBloom({ key }), hasSource: false });
    const [one, two] = filters as [StoredFilter, StoredFilter];
    await expectFound(filters, BUILT.slice(0, 4));
    return { key, one, two };
  }

  it.each([1, 2, 20])('lacks %i ids that were added: no process answers "absent"', async (count) => {
    const { key, filters, one } = await built();
    const copy = await copyOf(key);
    const added = idsOf('added', count);
    for (const id of added) await one.add([id]);
    await putBack(key, copy);
    for (const filter of filters.toReversed()) {
      for (const id of added) expect(await filter.check([id])).toEqual(['unknown']);
      expect((await filter.describe()).state).toBe('lost');
    }
  });

  it('is noticed although the last add was of an id of 1,200 bytes, and of bytes', async () => {
    const { key, one, three } = await built({ plan: testPlan({ maxIdBytes: 2000 }) });
    await one.add(['first']);
    const copy = await copyOf(key);
    await one.add([Uint8Array.of(0, 10, 255, 0), 'ä'.repeat(600)]);
    await one.add(['built-1']);
    await expectFound([three], [Uint8Array.of(0, 10, 255, 0), 'ä'.repeat(600)]);
    expect(await three.check(['x'])).toEqual(['absent']);
    await putBack(key, copy);
    expect(await three.check([Uint8Array.of(0, 10, 255, 0)])).toEqual(['unknown']);
  });

  it('is not hidden by an add that comes next, nor by what peers add', async () => {
    const { key, one, two, three } = await built();
    const copy = await copyOf(key);
    await one.add(['added']);
    await putBack(key, copy);
    await bf.call('BF.MADD', key, ...idsOf('peer', 50));
    await two.add(['next']).catch(() => {});
    for (const filter of [one, two, three]) {
      expect(await filter.check(['added', 'next'])).not.toContain('absent');
    }
  });

  it('is noticed although a peer had added the id before it was added here', async () => {
    const { key, one, two } = await adopted(true);
    await one.add(['first']);
    const copy = await copyOf(key);
    await bf.call('BF.ADD', key, 'both');
    expect(await one.add(['both'])).toEqual([false]);
    for (const id of BUILT.slice(0, 4)) await two.add([id]);
    await putBack(key, copy);
    expect(await two.check(['both'])).toEqual(['unknown']);
  });

  it('is noticed also when the peer was the first to add anything, right after it was adopted', async () => {
    const { key, one, two } = await adopted(true);
    const copy = await copyOf(key);
    await bf.call('BF.ADD', key, 'both');
    await one.add(['both']);
    await putBack(key, copy);
    expect(await two.check(['both'])).toEqual(['unknown']);
  });

  it('marks take room only when peers have added something', async () => {
    const { key, one, two } = await adopted(true);
    const items = async () => Number(((await bf.call('BF.INFO', key, 'ITEMS')) as unknown[])[0]);
    const before = await items();
    for (let i = 0; i < 20; i++) await (i % 2 ? one : two).add(BUILT.slice(0, 4));
    expect(await items()).toBe(before);
    await one.add(['a', 'b']);
    for (let i = 0; i < 20; i++) await (i % 2 ? one : two).add(['a', 'built-1']);
    expect(await items()).toBe(before + 2);
    await bf.call('BF.ADD', key, 'peer');
    for (let i = 0; i < 20; i++) await (i % 2 ? one : two).add(['peer']);
    expect(await items()).toBe(before + 4);
  });

  it('of the very same filter is the same', async () => {
    const { key, filters, one } = await built();
    await one.add(idsOf('added', 30));
    await putBack(key, await copyOf(key));
    await bf.call('BF.ADD', key, 'there');
    await expectFound(filters, [...BUILT, ...idsOf('added', 30), 'there']);
    expect(await filters[1]!.check(['x', 'y'])).toEqual(['absent', 'absent']);
  });

  it.each(['before', 'during', 'after'])('is noticed when the id was added %s a rebuild', async (when) => {
    const { key, one, two, three } = await built();
    let copy = await copyOf(key);
    if (when === 'before') await two.add(['added']);
    const held = heldSource([...BUILT, ...(when === 'before' ? ['added'] : [])]);
    const run = runRebuild(rebuildJob(one, held.source));
    await held.reached;
    if (when === 'during') await two.add(['added']);
    held.release();
    await run;
    if (when === 'after') {
      copy = await copyOf(key);
      await two.add(['added']);
    }
    await expectFound([one, two, three], ['added', ...BUILT]);
    await putBack(key, copy);
    for (const filter of [three, two, one]) expect(await filter.check(['added'])).toEqual(['unknown']);
  });

  it.each(['1 broken \0\0', 'nonsense', ''])('with edited metadata (%j) is never "absent"', async (text) => {
    const { key, one, two } = await built();
    await one.add(['added']);
    const token = await bf.admin.hget(`${key}:nestjs-bloom:meta`, 'token');
    await bf.admin.hset(`${key}:nestjs-bloom:meta`, 'recent', `${token} 5\n${text}`);
    expect(await two.check(['added', 'built-1'])).not.toContain('absent');
  });
});
