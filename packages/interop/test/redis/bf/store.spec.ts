import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BloomFullError, BloomIdError } from 'nestjs-bloom/filter';
import { BloomRebuildError, type StoredFilter } from 'nestjs-bloom/store';
import { redisBloom } from '../../../src/index.js';
import { BfFilters } from '../../support/bf-filters.js';
import { describeBf } from '../../../../../test/support/bf-server.js';
import {
  build,
  commitIds,
  idsOf,
  leaseOf,
  mergeIds,
  testPlan,
} from '../../../../../test/support/built-filter.js';
import { expectFound, expectNeverAbsent } from '../../../../../test/support/never-absent.js';
import { readChunks } from '../../support/scan-dump.js';

const BUILT = idsOf('built', 300);

describeBf('A filter on BF.* commands', () => {
  let bf: BfFilters;
  beforeAll(async () => {
    bf = await BfFilters.start();
  });
  afterAll(() => bf.close());

  describe('that was built', () => {
    it('is one that a peer reads, of the size it asked for', async () => {
      const { key, filters } = await bf.instances(1);
      await build(filters[0]!, BUILT, { capacity: 1000, errorRate: 0.001 });
      for (const id of BUILT.slice(0, 20)) expect(Number(await bf.call('BF.EXISTS', key, id))).toBe(1);
      expect(Number(await bf.call('BF.EXISTS', key, 'other'))).toBe(0);
      const read = redisBloom.read(await readChunks(bf.admin, key));
      expect(read.describe()).toHaveLength(1);
      expect(BUILT.every((id) => read.mightContain(id))).toBe(true);
      expect(read.estimate().ids).toBeLessThan(320);
      expect(await bf.admin.pttl(key)).toBe(-1);
    });

    it('answers for what a peer adds to it', async () => {
      const { key, filters } = await bf.instances(2);
      await build(filters[0]!, BUILT);
      expect(await filters[1]!.check(['from a peer'])).toEqual(['absent']);
      await bf.call('BF.ADD', key, 'from a peer');
      for (const filter of filters) expect(await filter.check(['from a peer'])).toEqual(['maybe']);
      expect(await filters[0]!.add(['from a peer', 'of ours'])).toEqual([false, true]);
      expect(Number(await bf.call('BF.EXISTS', key, 'of ours'))).toBe(1);
    });

    it('grows by links, and describes itself as the server does', async () => {
      const { key, filters } = await bf.instances(1, { layout: redisBloom({ expansion: 4 }) });
      const [filter] = filters as [StoredFilter];
      await build(filter, [], { capacity: 50, errorRate: 0.01 });
      expect(await filter.describe()).toMatchObject({
        state: 'ready',
        count: 0,
        capacity: 50,
        errorRate: 0.01,
      });
      await filter.add(idsOf('added', 600));
      const info = (await bf.call('BF.INFO', key)) as unknown[];
      const field = (name: string) => info[info.indexOf(name) + 1];
      expect(field('Number of filters')).toBeGreaterThan(1);
      expect(field('Expansion rate')).toBe(4);
      const { count, shape } = await filter.describe();
      expect(count).toBeGreaterThan(580);
      expect(count).toBeLessThanOrEqual(600);
      expect(shape).toMatchObject({ bytes: field('Size') });
      expect(shape!.modelledErrorRate).toBeGreaterThan(0);
      expect(shape!.modelledErrorRate).toBeLessThanOrEqual(0.01);
      await expectFound([filter], idsOf('added', 600));
    });

    it('takes ids of many links from a rebuild', async () => {
      const { filters } = await bf.instances(1);
      const lease = await leaseOf(filters[0]!);
      const staging = await lease.stage(testPlan({ capacity: 10 }));
      // Past its capacity a scan plans again; a chain would hold them all the same.
      await commitIds(staging, BUILT);
      await lease.release();
      await expectFound(filters, BUILT);
    });

    it('does not know of ids that are too long, since a peer may have added them', async () => {
      const { key, filters } = await bf.instances(1);
      const [filter] = filters as [StoredFilter];
      await build(filter, BUILT);
      const long = 'x'.repeat(65);
      await bf.call('BF.ADD', key, long);
      expect(await filter.check(['a', long, 'built-1', 'é'.repeat(33)])).toEqual([
        'absent',
        'unknown',
        'maybe',
        'unknown',
      ]);
      await expect(filter.add(['fits', long])).rejects.toThrow(BloomIdError);
      expect(await filter.check(['fits'])).toEqual(['absent']);
    });
  });

  it('answers also when the ids by which it would be told that it went offline pass it', async () => {
    const { key, filters } = await bf.instances(2);
    await build(filters[0]!, BUILT);
    const known = (await bf.admin.hget(`${key}:nestjs-bloom:meta`, 'canaries'))!.split(' ');
    await bf.call('BF.MADD', key, ...known);
    for (const filter of filters) expect(await filter.check(['built-1', 'x'])).toEqual(['maybe', 'absent']);
    expect(await filters[0]!.add(['added'])).toEqual([true]);
    await expectFound(filters, [...BUILT, 'added']);
  });

  describe('that does not scale', () => {
    const layout = redisBloom({ nonScaling: true });

    it('holds as many ids as planned, and rejects the add that it has no room for', async () => {
      const { filters } = await bf.instances(1, { layout });
      const [filter] = filters as [StoredFilter];
      await build(filter, idsOf('built', 40), { capacity: 50 });
      expect(await filter.add(idsOf('added', 10))).toEqual(Array(10).fill(true));
      await expect(filter.add(['one too many'])).rejects.toThrow(BloomFullError);
      await expect(filter.add(idsOf('too-many', 5))).rejects.toThrow(BloomFullError);
      expect(await filter.add(['built-1'])).toEqual([false]);
      await expectFound([filter], [...idsOf('built', 40), ...idsOf('added', 10)]);
      expect(await filter.describe()).toMatchObject({ state: 'ready', count: 50 });
    });

    it('rejects an add of which only a part fits, and keeps what was acknowledged', async () => {
      const { filters } = await bf.instances(1, { layout });
      const [filter] = filters as [StoredFilter];
      await build(filter, [], { capacity: 20 });
      await expect(filter.add(idsOf('added', 30))).rejects.toThrow(BloomFullError);
      const lease = await leaseOf(filter);
      const staging = await lease.stage(testPlan({ capacity: 20 }));
      await expect(filter.add(['during a rebuild'])).rejects.toThrow(BloomFullError);
      await commitIds(staging, idsOf('source', 20));
      await lease.release();
      await expectFound([filter], idsOf('source', 20));
      expect(await filter.check(['during a rebuild'])).toEqual(['absent']);
    });

    it('is not rebuilt when adds of the meantime have no room', async () => {
      const { filters } = await bf.instances(1, { layout });
      const [filter] = filters as [StoredFilter];
      await build(filter, [], { capacity: 50 });
      for (const late of [false, true]) {
        const lease = await leaseOf(filter);
        const staging = await lease.stage(testPlan({ capacity: 20 }));
        if (!late) await filter.add(idsOf('early', 10));
        const merged = mergeIds(staging, idsOf('source', 20));
        if (!late) await expect(merged).rejects.toThrow(BloomRebuildError);
        else {
          await merged;
          await filter.add(['late-1', 'late-2']);
          await expect(staging.commit(20)).rejects.toThrow(/did not fit/);
        }
        await staging.abort();
        await lease.release();
      }
      await expectFound([filter], [...idsOf('early', 10), 'late-1', 'late-2']);
    });
  });

  it('without a source and of its own key is made empty before its first add', async () => {
    const { key, filters } = await bf.instances(2, {
      hasSource: false,
      plan: testPlan({ capacity: 77, errorRate: 0.01 }),
    });
    expect(await filters[0]!.describe()).toMatchObject({ state: 'ready', count: 0, capacity: 77 });
    expect(await filters[1]!.check(['a'])).toEqual(['absent']);
    expect(await filters[1]!.add(['a'])).toEqual([true]);
    await expectFound(filters, ['a']);
    await bf.admin.del(key);
    await expectNeverAbsent(filters, ['a']);
    await expect(filters[0]!.add(['b'])).rejects.toThrow(/is lost/);
    expect(await bf.admin.exists(key)).toBe(0);
  });
});
