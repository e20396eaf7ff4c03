import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { BfFilters } from '../../support/bf-filters.js';
import { describeBf } from '../../../../../test/support/bf-server.js';
import { build, idsOf } from '../../../../../test/support/built-filter.js';
import { expectFound, expectNeverAbsent } from '../../../../../test/support/never-absent.js';
import { adoptable } from '../../../../../test/support/abilities.js';
import { redisBloom } from '../../../src/index.js';
import type { BloomLayout } from 'nestjs-bloom/store';

const BUILT = idsOf('built', 300);

describeBf('A filter of BF.* commands under a key that peers use', () => {
  let bf: BfFilters;
  beforeAll(async () => {
    bf = await BfFilters.start();
  });
  afterAll(() => bf.close());

  function shared(adopt?: 'explicit'): { key: string; layout: BloomLayout } {
    const key = `shop-${bf.name()}`;
    return { key, layout: redisBloom({ key, adopt }) };
  }

  it('is unknown until the first build, which replaces it', async () => {
    const { key, layout } = shared();
    await bf.call('BF.MADD', key, 'of the peer', 'another');
    const { filters } = await bf.instances(2, { layout });
    await expectNeverAbsent(filters, ['of the peer', 'x']);
    await build(filters[0]!, ['of the peer', 'a']);
    await expectFound(filters, ['of the peer', 'a']);
    expect(Number(await bf.call('BF.EXISTS', key, 'a'))).toBe(1);
  });

  it('without a source is taken as the peer has left it', async () => {
    const { key, layout } = shared();
    const { filters } = await bf.instances(2, { layout, hasSource: false });
    expect(await filters[0]!.check(['of the peer'])).toEqual(['unknown']);
    await expect(filters[0]!.add(['a'])).rejects.toThrow(/has no source/);
    await bf.call('BF.MADD', key, 'of the peer', 'another');
    await expectFound(filters, ['of the peer', 'another']);
    expect(await filters[1]!.check(['x'])).toEqual(['absent']);
    expect(await filters[1]!.add(['a', 'another'])).toEqual([true, false]);
    expect(Number(await bf.call('BF.EXISTS', key, 'a'))).toBe(1);
    await bf.admin.del(key);
    await bf.call('BF.ADD', key, 'of the peer');
    await expectNeverAbsent(filters, ['another', 'a']);
    await expect(filters[0]!.add(['b'])).rejects.toThrow(/is lost/);
  });

  it('without a source and with adopt: explicit is taken when its owner says that it is full', async () => {
    const { key, layout } = shared('explicit');
    const open = { layout, hasSource: false };
    const { filters } = await bf.instances(2, open);
    await expect(adoptable(filters[0]!).adopt()).rejects.toThrow(
      /no key .*fill it, then call adopt\(\) again/,
    );
    await bf.call('BF.MADD', key, 'of the peer');
    for (const filter of filters)
      expect(await filter.check(['of the peer', 'x'])).toEqual(['unknown', 'unknown']);
    await expect(filters[0]!.add(['a'])).rejects.toThrow(/fill the key, then call adopt\(\)/);
    await bf.call('BF.MADD', key, 'another');
    await adoptable(filters[0]!).adopt();
    await expectFound(filters, ['of the peer', 'another']);
    expect(await filters[1]!.check(['x'])).toEqual(['absent']);
  });

  it('without a source is not taken when it is something else', async () => {
    const { key, layout } = shared();
    await bf.admin.set(key, 'text');
    const { filters } = await bf.instances(1, { layout, hasSource: false });
    expect(await filters[0]!.check(['a'])).toEqual(['unknown']);
    expect(await bf.admin.get(key)).toBe('text');
  });

  it('stays in its place when it goes out of service, for all processes at once', async () => {
    const { key, layout } = shared();
    const { filters } = await bf.instances(3, { layout });
    await build(filters[0]!, BUILT);
    await expectFound(filters, BUILT);
    await filters[0]!.distrust('A reason.');
    for (const filter of filters) {
      expect(await filter.check(['built-1', 'x'])).toEqual(['unknown', 'unknown']);
      expect(await filter.describe()).toMatchObject({ state: 'suspect' });
    }
    expect(Number(await bf.call('BF.EXISTS', key, 'built-1'))).toBe(1);
    await build(filters[1]!, BUILT);
    await expectFound(filters, BUILT);
  });
});
