import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { StoredFilter } from 'nestjs-bloom/store';
import { BfFilters } from '../../support/bf-filters.js';
import { describeBf } from '../../../../../test/support/bf-server.js';
import { build, idsOf } from '../../../../../test/support/built-filter.js';
import { expectFound, expectNeverAbsent } from '../../../../../test/support/never-absent.js';

const BUILT = idsOf('built', 300);

describeBf('A filter on BF.* commands whose key is lost', () => {
  let bf: BfFilters;
  beforeAll(async () => {
    bf = await BfFilters.start();
  });
  afterAll(() => bf.close());

  const damages: Record<string, (key: string) => Promise<unknown>> = {
    deleted: (key) => bf.admin.del(key),
    'recreated by a peer': async (key) => {
      await bf.admin.del(key);
      await bf.call('BF.ADD', key, 'of the peer');
    },
    'recreated larger by a peer, with ids': async (key) => {
      await bf.admin.del(key);
      await bf.call('BF.RESERVE', key, 0.01, 100_000);
      for (let i = 0; i < 20; i++) await bf.call('BF.MADD', key, ...idsOf(`peer-${i}`, 50));
    },
    'of another type': async (key) => {
      await bf.admin.del(key);
      await bf.admin.set(key, 'something else');
    },
    'replaced by a filter of another name': async (key) => {
      const other = await bf.instances(1);
      await build(other.filters[0]!, idsOf('other', 5));
      await bf.admin.rename(other.key, key);
    },
    'and the metadata too': async (key) => {
      await bf.admin.del(key, `${key}:nestjs-bloom:meta`);
    },
  };

  it.each(Object.keys(damages))(
    '%s: no process answers "absent", and a rebuild brings it back',
    async (damage) => {
      const { key, filters } = await bf.instances(3);
      const [reader, adder, newcomer] = filters as [StoredFilter, StoredFilter, StoredFilter];
      await build(reader, BUILT);
      await adder.add(['added']);
      await expectFound([reader, adder], [...BUILT, 'added']);
      await damages[damage]!(key);
      await expectNeverAbsent([reader, adder, newcomer], [...BUILT, 'added']);
      for (const filter of filters) await filter.add(['late']);
      await expectNeverAbsent(filters, [...BUILT, 'added', 'late']);
      expect(['lost', 'unbuilt']).toContain((await reader.describe()).state);
      if (damage === 'of another type') {
        await expect(build(newcomer, BUILT)).rejects.toThrow(/left alone: name another key/);
        expect(await bf.admin.get(key)).toBe('something else');
        await bf.admin.del(key);
      }
      await build(newcomer, [...BUILT, 'added', 'late']);
      await expectFound(filters, [...BUILT, 'added', 'late']);
      expect(await reader.check(['x'])).toEqual(['absent']);
    },
  );

  it('an add does not make it again', async () => {
    const { key, filters } = await bf.instances(2);
    await build(filters[0]!, BUILT);
    await bf.admin.del(key);
    for (const filter of filters) await filter.add(['late']);
    expect(await bf.admin.exists(key)).toBe(0);
    expect(await filters[1]!.describe()).toMatchObject({ state: 'lost' });
  });

  it('is told once, and lost for all', async () => {
    const name = bf.name();
    const one = await bf.open(name);
    await build(one.filter, BUILT);
    await bf.admin.del(`bloom:{${name}}:bf`);
    for (let i = 0; i < 3; i++) expect(await one.filter.check(['built-1'])).toEqual(['unknown']);
    const states = one.events.map((event) => 'state' in event && event.state);
    expect(states).toEqual(['ready', 'lost']);
  });

  it('from the metadata alone, an id that is added meanwhile is never "absent"', async () => {
    const { key, filters } = await bf.instances(3);
    await build(filters[0]!, BUILT);
    await expectFound(filters, BUILT);
    await bf.admin.del(`${key}:nestjs-bloom:meta`);
    const newcomer = (await bf.open(key.slice(key.indexOf('{') + 1, key.indexOf('}')))).filter;
    await newcomer.add(['late']);
    await expectNeverAbsent([...filters, newcomer], [...BUILT, 'late']);
  });
});
