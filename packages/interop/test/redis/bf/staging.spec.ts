import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { BloomRebuildError, type StoredFilter } from 'nestjs-bloom/store';
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
import { expectFound } from '../../../../../test/support/never-absent.js';

const BUILT = idsOf('built', 300);

describeBf('A filter on BF.* commands that is rebuilt', () => {
  let bf: BfFilters;
  beforeAll(async () => {
    bf = await BfFilters.start();
  });
  afterAll(() => bf.close());

  it('keeps every add of the meantime, of any process, at any time', async () => {
    const { filters } = await bf.instances(4, { plan: testPlan({ capacity: 5000 }) });
    const [rebuilder, ...others] = filters as [StoredFilter, ...StoredFilter[]];
    await build(rebuilder, BUILT, { capacity: 5000 });
    const acknowledged: string[] = [];
    const underWay = new Set<Promise<unknown>>();
    let wrong = 0;
    let stop = false;
    const adding = others.map(async (filter, who) => {
      for (let i = 0; !stop; i++) {
        const ids = idsOf(`added-${who}-${i}`, 1 + (i % 3));
        const added = filter.add(ids).then(() => acknowledged.push(...ids));
        underWay.add(added);
        await added.finally(() => underWay.delete(added));
        const asked = [...ids, acknowledged[Math.floor(Math.random() * acknowledged.length)]!];
        for (const other of filters) {
          const verdicts = await other.check(asked);
          wrong += verdicts.filter((verdict) => verdict === 'absent').length;
        }
      }
    });
    for (let round = 0; round < 6 || acknowledged.length < 200; round++) {
      const lease = await leaseOf(rebuilder);
      const staging = await lease.stage(testPlan({ capacity: 5000 }));
      // What a drain is for: rows of adds that did not know of the staging are visible when the source is
      // read.
      await Promise.all(underWay);
      await commitIds(staging, [...BUILT, ...acknowledged]);
      await lease.release();
    }
    stop = true;
    await Promise.all(adding);
    expect(wrong).toBe(0);
    expect(acknowledged.length).toBeGreaterThan(50);
    await expectFound(filters, [...BUILT, ...acknowledged]);
  });

  it('replays thousands of ids in steps, and leaves no key behind', async () => {
    const { key, filters } = await bf.instances(2, { plan: testPlan({ capacity: 10_000 }) });
    await build(filters[0]!, BUILT);
    const lease = await leaseOf(filters[0]!);
    const staging = await lease.stage(testPlan({ capacity: 10_000 }));
    const early = idsOf('early', 3000);
    const late = idsOf('late', 3000);
    await filters[1]!.add(early);
    await mergeIds(staging, BUILT);
    await filters[1]!.add(late);
    await staging.commit(BUILT.length);
    await lease.release();
    await expectFound(filters, [...BUILT, ...early, ...late]);
    const left = await bf.admin.keys(`${key}:nestjs-bloom*`);
    expect(left).toEqual([`${key}:nestjs-bloom:meta`]);
    const fields = await bf.admin.hkeys(`${key}:nestjs-bloom:meta`);
    expect(fields.filter((field) => field.includes('journal') || field.startsWith('pending'))).toEqual([]);
  });

  const interferences: Record<string, (staged: { filter: string; journal: string }) => Promise<unknown>> = {
    'the staged filter is deleted': ({ filter }) => bf.admin.del(filter),
    'the staged filter is recreated': async ({ filter }) => {
      await bf.admin.del(filter);
      await bf.call('BF.ADD', filter, 'other');
    },
    'the journal is deleted': ({ journal }) => bf.admin.del(journal),
    'the journal is recreated': async ({ journal }) => {
      await bf.admin.del(journal);
      await bf.admin.rpush(journal, 'other');
      // With a life, as the first one had: else no abort removes it, and it would be taken for that of the
      // next staging.
      await bf.admin.pexpire(journal, 60_000);
    },
    'the journal is cut short': ({ journal }) => bf.admin.ltrim(journal, 0, 1),
  };

  it.each(Object.keys(interferences))('is not swapped when %s', async (interference) => {
    const { key, filters } = await bf.instances(2);
    await build(filters[0]!, BUILT);
    for (const before of [true, false]) {
      const lease = await leaseOf(filters[0]!);
      const staging = await lease.stage(testPlan());
      const [journal] = await bf.admin.keys(`${key}:nestjs-bloom:next:*:journal`);
      const staged = { filter: journal!.replace(':journal', ''), journal: journal! };
      await filters[1]!.add(['first', 'second']);
      await mergeIds(staging, BUILT);
      if (before) await interferences[interference]!(staged);
      await filters[1]!.add(['third']);
      if (!before) await interferences[interference]!(staged);
      await expect(staging.commit(BUILT.length)).rejects.toThrow(BloomRebuildError);
      await staging.abort();
      await lease.release();
      await expectFound(filters, [...BUILT, 'first', 'second', 'third']);
    }
  });
});
