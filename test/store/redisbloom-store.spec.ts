import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { BloomFullError, BloomIdError, BloomRebuildError } from '../../src/common/index.js';
import { redisBloom } from '../../src/filter/index.js';
import type { BloomFilterStore, OpenFilterOptions } from '../../src/store/index.js';
import { bfFixture, describeBf } from '../support/bf-server.js';
import { build, commitIds, idsOf, leaseOf, mergeIds, testPlan } from '../support/built-filter.js';
import { expectFound, expectNeverAbsent } from '../support/never-absent.js';
import type { Instance, RedisFixture } from '../support/redis-fixture.js';
import { readChunks } from '../support/scan-dump.js';

const BUILT = idsOf('built', 300);

describeBf('A filter on BF.* commands', () => {
  let redis: RedisFixture;
  let admin: Redis;
  beforeAll(async () => {
    redis = await bfFixture();
    admin = redis.client();
  });
  afterAll(() => redis.close());

  type Opened = Partial<OpenFilterOptions>;

  function open(name: string, opened: Opened = {}): Promise<Instance> {
    return redis.open(
      name,
      {},
      { layout: { kind: 'redisbloom' }, plan: testPlan(), hasSource: true, ...opened },
    );
  }

  async function instances(
    count: number,
    opened: Opened = {},
  ): Promise<{ key: string; filters: BloomFilterStore[] }> {
    const name = redis.name();
    const made = [];
    for (let i = 0; i < count; i++) made.push((await open(name, opened)).filter);
    return { key: `bloom:{${name}}:bf`, filters: made };
  }

  function bf(command: string, ...args: (string | number)[]): Promise<unknown> {
    return admin.call(command, ...args);
  }

  describe('that was built', () => {
    it('is one that a peer reads, of the size it asked for', async () => {
      const { key, filters } = await instances(1);
      await build(filters[0]!, BUILT, { capacity: 1000, errorRate: 0.001 });
      for (const id of BUILT.slice(0, 20)) expect(Number(await bf('BF.EXISTS', key, id))).toBe(1);
      expect(Number(await bf('BF.EXISTS', key, 'other'))).toBe(0);
      const read = redisBloom.read(await readChunks(admin, key));
      expect(read.describe()).toHaveLength(1);
      expect(BUILT.every((id) => read.mightContain(id))).toBe(true);
      expect(read.estimate().ids).toBeLessThan(320);
      expect(await admin.pttl(key)).toBe(-1);
    });

    it('answers for what a peer adds to it', async () => {
      const { key, filters } = await instances(2);
      await build(filters[0]!, BUILT);
      expect(await filters[1]!.check(['from a peer'])).toEqual(['absent']);
      await bf('BF.ADD', key, 'from a peer');
      for (const filter of filters) expect(await filter.check(['from a peer'])).toEqual(['maybe']);
      expect(await filters[0]!.add(['from a peer', 'of ours'])).toEqual([false, true]);
      expect(Number(await bf('BF.EXISTS', key, 'of ours'))).toBe(1);
    });

    it('grows by links, and describes itself as the server does', async () => {
      const { key, filters } = await instances(1, { layout: { kind: 'redisbloom', expansion: 4 } });
      const [filter] = filters as [BloomFilterStore];
      await build(filter, [], { capacity: 50, errorRate: 0.01 });
      expect(await filter.describe()).toMatchObject({
        state: 'ready',
        count: 0,
        capacity: 50,
        errorRate: 0.01,
      });
      await filter.add(idsOf('added', 600));
      const info = (await bf('BF.INFO', key)) as unknown[];
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
      const { filters } = await instances(1);
      const lease = await leaseOf(filters[0]!);
      const staging = await lease.stage(testPlan({ capacity: 10 }));
      // Past its capacity a scan plans again; a chain would hold them all the same.
      await commitIds(staging, BUILT);
      await lease.release();
      await expectFound(filters, BUILT);
    });

    it('does not know of ids that are too long, since a peer may have added them', async () => {
      const { key, filters } = await instances(1);
      const [filter] = filters as [BloomFilterStore];
      await build(filter, BUILT);
      const long = 'x'.repeat(65);
      await bf('BF.ADD', key, long);
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
    const { key, filters } = await instances(2);
    await build(filters[0]!, BUILT);
    const known = (await admin.hget(`${key}:nestjs-bloom:meta`, 'canaries'))!.split(' ');
    await bf('BF.MADD', key, ...known);
    for (const filter of filters) expect(await filter.check(['built-1', 'x'])).toEqual(['maybe', 'absent']);
    expect(await filters[0]!.add(['added'])).toEqual([true]);
    await expectFound(filters, [...BUILT, 'added']);
  });

  describe('that does not scale', () => {
    const layout = { kind: 'redisbloom', nonScaling: true } as const;

    it('holds as many ids as planned, and rejects the add that it has no room for', async () => {
      const { filters } = await instances(1, { layout });
      const [filter] = filters as [BloomFilterStore];
      await build(filter, idsOf('built', 40), { capacity: 50 });
      expect(await filter.add(idsOf('added', 10))).toEqual(Array(10).fill(true));
      await expect(filter.add(['one too many'])).rejects.toThrow(BloomFullError);
      await expect(filter.add(idsOf('too-many', 5))).rejects.toThrow(BloomFullError);
      expect(await filter.add(['built-1'])).toEqual([false]);
      await expectFound([filter], [...idsOf('built', 40), ...idsOf('added', 10)]);
      expect(await filter.describe()).toMatchObject({ state: 'ready', count: 50 });
    });

    it('rejects an add of which only a part fits, and keeps what was acknowledged', async () => {
      const { filters } = await instances(1, { layout });
      const [filter] = filters as [BloomFilterStore];
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
      const { filters } = await instances(1, { layout });
      const [filter] = filters as [BloomFilterStore];
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

  describe('whose key is lost', () => {
    const damages: Record<string, (key: string) => Promise<unknown>> = {
      deleted: (key) => admin.del(key),
      'made again by a peer': async (key) => {
        await admin.del(key);
        await bf('BF.ADD', key, 'of the peer');
      },
      'made again larger by a peer, with ids': async (key) => {
        await admin.del(key);
        await bf('BF.RESERVE', key, 0.01, 100_000);
        for (let i = 0; i < 20; i++) await bf('BF.MADD', key, ...idsOf(`peer-${i}`, 50));
      },
      'of another type': async (key) => {
        await admin.del(key);
        await admin.set(key, 'something else');
      },
      'replaced by a filter of another name': async (key) => {
        const other = await instances(1);
        await build(other.filters[0]!, idsOf('other', 5));
        await admin.rename(other.key.replace('bf', 'bf'), key).catch(() => admin.del(key));
      },
      'and the metadata too': async (key) => {
        await admin.del(key, `${key}:nestjs-bloom:meta`);
      },
    };

    it.each(Object.keys(damages))(
      '%s: no process answers "absent", and a rebuild brings it back',
      async (damage) => {
        const { key, filters } = await instances(3);
        const [reader, adder, newcomer] = filters as [BloomFilterStore, BloomFilterStore, BloomFilterStore];
        await build(reader, BUILT);
        await adder.add(['added']);
        await expectFound([reader, adder], [...BUILT, 'added']);
        await damages[damage]!(key);
        await expectNeverAbsent([reader, adder, newcomer], [...BUILT, 'added']);
        for (const filter of filters) await filter.add(['late']);
        await expectNeverAbsent(filters, [...BUILT, 'added', 'late']);
        expect(['lost', 'unbuilt']).toContain((await reader.describe()).state);
        await build(newcomer, [...BUILT, 'added', 'late']);
        await expectFound(filters, [...BUILT, 'added', 'late']);
        expect(await reader.check(['x'])).toEqual(['absent']);
      },
    );

    it('an add does not make it again', async () => {
      const { key, filters } = await instances(2);
      await build(filters[0]!, BUILT);
      await admin.del(key);
      for (const filter of filters) await filter.add(['late']);
      expect(await admin.exists(key)).toBe(0);
      expect(await filters[1]!.describe()).toMatchObject({ state: 'lost' });
    });

    it('is told once, and lost for all', async () => {
      const name = redis.name();
      const one = await open(name);
      await build(one.filter, BUILT);
      await admin.del(`bloom:{${name}}:bf`);
      for (let i = 0; i < 3; i++) expect(await one.filter.check(['built-1'])).toEqual(['unknown']);
      const states = one.events.map((event) => 'state' in event && event.state);
      expect(states).toEqual(['ready', 'lost']);
    });

    it('from the metadata alone, an id that is added meanwhile is never "absent"', async () => {
      const { key, filters } = await instances(3);
      await build(filters[0]!, BUILT);
      await expectFound(filters, BUILT);
      await admin.del(`${key}:nestjs-bloom:meta`);
      const newcomer = (await open(key.slice(key.indexOf('{') + 1, key.indexOf('}')))).filter;
      await newcomer.add(['late']);
      await expectNeverAbsent([...filters, newcomer], [...BUILT, 'late']);
    });
  });

  describe('that is rebuilt', () => {
    it('keeps every add of the meantime, whoever makes it, whenever', async () => {
      const { filters } = await instances(4, { plan: testPlan({ capacity: 5000 }) });
      const [rebuilder, ...others] = filters as [BloomFilterStore, ...BloomFilterStore[]];
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
        // What a drain is for: rows of adds that did not know of the staging are visible when the source is read.
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
      const { key, filters } = await instances(2, { plan: testPlan({ capacity: 10_000 }) });
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
      const left = await admin.keys(`${key}:nestjs-bloom*`);
      expect(left).toEqual([`${key}:nestjs-bloom:meta`]);
      const fields = await admin.hkeys(`${key}:nestjs-bloom:meta`);
      expect(fields.filter((field) => field.includes('journal') || field.startsWith('pending'))).toEqual([]);
    });

    const interferences: Record<string, (staged: { filter: string; journal: string }) => Promise<unknown>> = {
      'the staged filter is deleted': ({ filter }) => admin.del(filter),
      'the staged filter is made again': async ({ filter }) => {
        await admin.del(filter);
        await bf('BF.ADD', filter, 'other');
      },
      'the journal is deleted': ({ journal }) => admin.del(journal),
      'the journal is made again': async ({ journal }) => {
        await admin.del(journal);
        await admin.rpush(journal, 'other');
      },
      'the journal is cut short': ({ journal }) => admin.ltrim(journal, 0, 1),
    };

    it.each(Object.keys(interferences))('is not swapped when %s', async (interference) => {
      const { key, filters } = await instances(2);
      await build(filters[0]!, BUILT);
      for (const before of [true, false]) {
        const lease = await leaseOf(filters[0]!);
        const staging = await lease.stage(testPlan());
        const [journal] = await admin.keys(`${key}:nestjs-bloom:next:*:journal`);
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

  describe('under a key that peers use', () => {
    function shared(): { key: string; layout: { kind: 'redisbloom'; key: string } } {
      const key = `shop-${redis.name()}`;
      return { key, layout: { kind: 'redisbloom', key } };
    }

    it('is unknown until the first build, which replaces it', async () => {
      const { key, layout } = shared();
      await bf('BF.MADD', key, 'of the peer', 'another');
      const { filters } = await instances(2, { layout });
      await expectNeverAbsent(filters, ['of the peer', 'x']);
      await build(filters[0]!, ['of the peer', 'a']);
      await expectFound(filters, ['of the peer', 'a']);
      expect(Number(await bf('BF.EXISTS', key, 'a'))).toBe(1);
    });

    it('without a source is taken as the peer has left it', async () => {
      const { key, layout } = shared();
      const { filters } = await instances(2, { layout, hasSource: false });
      expect(await filters[0]!.check(['of the peer'])).toEqual(['unknown']);
      await expect(filters[0]!.add(['a'])).rejects.toThrow(/has no source/);
      await bf('BF.MADD', key, 'of the peer', 'another');
      await expectFound(filters, ['of the peer', 'another']);
      expect(await filters[1]!.check(['x'])).toEqual(['absent']);
      expect(await filters[1]!.add(['a', 'another'])).toEqual([true, false]);
      expect(Number(await bf('BF.EXISTS', key, 'a'))).toBe(1);
      await admin.del(key);
      await bf('BF.ADD', key, 'of the peer');
      await expectNeverAbsent(filters, ['another', 'a']);
      await expect(filters[0]!.add(['b'])).rejects.toThrow(/is lost/);
    });

    it('without a source is not taken when it is something else', async () => {
      const { key, layout } = shared();
      await admin.set(key, 'text');
      const { filters } = await instances(1, { layout, hasSource: false });
      expect(await filters[0]!.check(['a'])).toEqual(['unknown']);
      expect(await admin.get(key)).toBe('text');
    });

    it('stays in its place when it goes out of service, for all processes at once', async () => {
      const { key, layout } = shared();
      const { filters } = await instances(3, { layout });
      await build(filters[0]!, BUILT);
      await expectFound(filters, BUILT);
      await filters[0]!.distrust('A reason.');
      for (const filter of filters) {
        expect(await filter.check(['built-1', 'x'])).toEqual(['unknown', 'unknown']);
        expect(await filter.describe()).toMatchObject({ state: 'suspect' });
      }
      expect(Number(await bf('BF.EXISTS', key, 'built-1'))).toBe(1);
      await build(filters[1]!, BUILT);
      await expectFound(filters, BUILT);
    });
  });

  it('without a source and of its own key is made empty before its first add', async () => {
    const { key, filters } = await instances(2, {
      hasSource: false,
      plan: testPlan({ capacity: 77, errorRate: 0.01 }),
    });
    expect(await filters[0]!.describe()).toMatchObject({ state: 'ready', count: 0, capacity: 77 });
    expect(await filters[1]!.check(['a'])).toEqual(['absent']);
    expect(await filters[1]!.add(['a'])).toEqual([true]);
    await expectFound(filters, ['a']);
    await admin.del(key);
    await expectNeverAbsent(filters, ['a']);
    await expect(filters[0]!.add(['b'])).rejects.toThrow(/is lost/);
    expect(await admin.exists(key)).toBe(0);
  });
});
