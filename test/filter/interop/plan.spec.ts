import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  BloomConfigError,
  cuckoo,
  expectedErrorRate,
  goZero,
  guava,
  LAYOUT_NUMBERS,
  type LayoutChoice,
  type LayoutKind,
  planFilter,
  redisBloom,
  redisson,
  spring,
} from '../../../src/filter/index.js';

const kinds = Object.keys(LAYOUT_NUMBERS) as LayoutKind[];
const demand = { capacity: 20_000, errorRate: 0.01 };

describe('The numbers of the layouts', () => {
  it('never change', () => {
    expect(LAYOUT_NUMBERS).toEqual({
      blocked: 1,
      'go-zero': 2,
      guava: 3,
      redisson: 4,
      redisbloom: 5,
      spring: 6,
      cuckoo: 7,
    });
  });

  it('are known to the layouts', () => {
    const geometry = { bits: 640, hashCount: 5 };
    expect([
      goZero.layout(geometry).number,
      guava.layout({ ...geometry, funnel: 'stringFunnel' }).number,
      redisson.layout({ ...geometry, codec: 'Kryo5Codec' }).number,
      redisBloom.layout(geometry).number,
      spring.layout(geometry).number,
      cuckoo.layout({ buckets: 64, bucketSize: 2 }).number,
    ]).toEqual([2, 3, 4, 5, 6, 7]);
  });
});

describe('A plan', () => {
  it('without a layout is what it always was', () => {
    const plan = planFilter({ capacity: 50_000, errorRate: 1e-3 });
    expect(Object.keys(plan).sort()).toEqual(
      ['bitsPerId', 'blocks', 'bytes', 'capacity', 'errorRate', 'hashCount', 'modelledErrorRate'].sort(),
    );
    expect(expectedErrorRate(plan, 50_000)).toBe(plan.modelledErrorRate);
  });

  it.each(kinds)('of layout %s tells bits, hashes, bytes and bits for an id', (kind) => {
    const plan = planFilter({ ...demand, layout: kind });
    expect(plan).toMatchObject({ ...demand, layout: { kind } });
    expect(plan.bytes).toBe(Math.ceil(plan.bits / 8));
    expect(plan.bitsPerId).toBe(plan.bits / demand.capacity);
    expect(planFilter({ ...demand, layout: { kind } })).toEqual(plan);
  });

  it.each(kinds)('of layout %s is next to the error rate at capacity, and below it with less', (kind) => {
    const plan = planFilter({ ...demand, layout: kind });
    expect(plan.modelledErrorRate / demand.errorRate).toBeLessThan(1.05);
    expect(plan.modelledErrorRate / demand.errorRate).toBeGreaterThan(0.4);
    expect(expectedErrorRate(plan, demand.capacity)).toBe(plan.modelledErrorRate);
    expect(expectedErrorRate(plan, 0)).toBe(0);
  });

  it.each(kinds)('of layout %s expects more errors of more ids', (kind) => {
    const plan = planFilter({ ...demand, layout: kind });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200_000 }), fc.integer({ min: 1, max: 200_000 }), (a, b) => {
        const [few, many] = [Math.min(a, b), Math.max(a, b)].map((ids) => expectedErrorRate(plan, ids));
        expect(few).toBeGreaterThanOrEqual(0);
        expect(few).toBeLessThanOrEqual(many!);
        expect(many).toBeLessThanOrEqual(1);
      }),
      { numRuns: 100 },
    );
  });

  it('is of the size that the peer chooses', () => {
    const { capacity, errorRate } = demand;
    expect(planFilter({ ...demand, layout: 'guava' })).toMatchObject(guava.size(demand));
    expect(planFilter({ ...demand, layout: 'redisson' })).toMatchObject(redisson.size(demand));
    expect(planFilter({ ...demand, layout: 'spring' })).toMatchObject(spring.size(demand));
    expect(planFilter({ ...demand, layout: 'go-zero' })).toMatchObject(goZero.size(demand));
    const { bits, hashCount } = redisBloom.size({ capacity, errorRate, nonScaling: true });
    const layout = { kind: 'redisbloom', nonScaling: true } as const;
    expect(planFilter({ ...demand, layout })).toMatchObject({ bits, hashCount });
  });

  it('of RedisBloom keeps its error rate as the chain grows', () => {
    for (const layout of [{ kind: 'redisbloom' }, { kind: 'redisbloom', expansion: 1 }] as LayoutChoice[]) {
      const plan = planFilter({ ...demand, layout });
      for (const ids of [20_001, 60_000, 1_000_000]) {
        expect(expectedErrorRate(plan, ids)).toBeLessThan(demand.errorRate);
        expect(expectedErrorRate(plan, ids)).toBeGreaterThan(demand.errorRate * 0.4);
      }
    }
  });

  it.each(['guava', 'redisson', 'spring', 'go-zero', 'redisbloom'] as const)(
    'of layout %s is what a filter shows',
    (layout) => {
      const plan = planFilter({ ...demand, layout });
      const filter = {
        guava: () => guava.create({ ...demand, funnel: 'stringFunnel' }),
        redisson: () => redisson.create({ ...demand, codec: 'StringCodec' }),
        spring: () => spring.create(demand),
        'go-zero': () => goZero.create(plan),
        redisbloom: () => redisBloom.create(demand),
      }[layout]();
      for (let i = 0; i < demand.capacity; i++) filter.add(`id-${i}`);
      expect(filter.estimate().errorRate / plan.modelledErrorRate).toBeCloseTo(1, 1);
      let falsePositives = 0;
      for (let i = 0; i < 40_000; i++) if (filter.mightContain(`absent-${i}`)) falsePositives++;
      // Double hashing and chance: within a quarter.
      expect(Math.abs(falsePositives / 40_000 / plan.modelledErrorRate - 1)).toBeLessThan(0.25);
    },
  );

  it.each(kinds)('of layout %s is refused for what cannot be', (layout) => {
    for (const capacity of [0, -1, 1.5, NaN, Infinity, 2 ** 53]) {
      expect(() => planFilter({ capacity, errorRate: 0.01, layout })).toThrow(BloomConfigError);
    }
    for (const errorRate of [0, 1, -0.1, NaN]) {
      expect(() => planFilter({ capacity: 100, errorRate, layout })).toThrow(BloomConfigError);
    }
  });

  it('is refused for a layout that there is not', () => {
    const layout = 'quotient' as LayoutKind;
    expect(() => planFilter({ ...demand, layout })).toThrow(
      /Expected a layout of blocked, go-zero, .* got 'quotient'/,
    );
  });
});
