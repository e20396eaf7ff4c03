import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BloomConfigError, expectedErrorRate, planFilter } from 'nestjs-bloom/filter';
import {
  cuckoo,
  goZero,
  guava,
  LAYOUT_NUMBERS,
  type LayoutPlanner,
  redisBloom,
  redisson,
} from '../../src/index.js';

const planners: Readonly<Record<string, LayoutPlanner>> = {
  'go-zero': goZero,
  guava,
  redisson,
  redisbloom: redisBloom,
  cuckoo,
};
const kinds = Object.entries(planners);
const target = { capacity: 20_000, errorRate: 0.01 };

describe('The numbers of the layouts', () => {
  it('never change', () => {
    expect(LAYOUT_NUMBERS).toEqual({
      blocked: 1,
      'go-zero': 2,
      guava: 3,
      redisson: 4,
      redisbloom: 5,
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
      cuckoo.layout({ buckets: 64, bucketSize: 2 }).number,
    ]).toEqual([2, 3, 4, 5, 7]);
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

  it.each(kinds)('of layout %s tells bits, hashes, bytes and bits for an id', (kind, planner) => {
    const plan = planner.plan(target);
    expect(plan).toMatchObject({ ...target, layout: { kind } });
    expect(plan.bytes).toBe(Math.ceil(plan.bits / 8));
    expect(plan.bitsPerId).toBe(plan.bits / target.capacity);
  });

  it.each(kinds)(
    'of layout %s is next to the error rate at capacity, and below it with less',
    (_, planner) => {
      const plan = planner.plan(target);
      expect(plan.modelledErrorRate / target.errorRate).toBeLessThan(1.05);
      expect(plan.modelledErrorRate / target.errorRate).toBeGreaterThan(0.4);
      expect(planner.expectedErrorRate(plan, target.capacity)).toBe(plan.modelledErrorRate);
      expect(planner.expectedErrorRate(plan, 0)).toBe(0);
    },
  );

  it.each(kinds)('of layout %s expects more errors of more ids', (_, planner) => {
    const plan = planner.plan(target);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200_000 }), fc.integer({ min: 1, max: 200_000 }), (a, b) => {
        const [few, many] = [Math.min(a, b), Math.max(a, b)].map((ids) =>
          planner.expectedErrorRate(plan, ids),
        );
        expect(few).toBeGreaterThanOrEqual(0);
        expect(few).toBeLessThanOrEqual(many!);
        expect(many).toBeLessThanOrEqual(1);
      }),
      { numRuns: 100 },
    );
  });

  it('is of the size that the peer chooses', () => {
    const { capacity, errorRate } = target;
    expect(guava.plan(target)).toMatchObject(guava.size(target));
    expect(redisson.plan(target)).toMatchObject(redisson.size(target));
    expect(goZero.plan(target)).toMatchObject(goZero.size(target));
    const { bits, hashCount } = redisBloom.size({ capacity, errorRate, nonScaling: true });
    expect(redisBloom.plan({ ...target, nonScaling: true })).toMatchObject({ bits, hashCount });
  });

  it('of RedisBloom keeps its error rate as the chain grows', () => {
    for (const settings of [{}, { expansion: 1 }]) {
      const plan = redisBloom.plan({ ...target, ...settings });
      for (const ids of [20_001, 60_000, 1_000_000]) {
        expect(redisBloom.expectedErrorRate(plan, ids)).toBeLessThan(target.errorRate);
        expect(redisBloom.expectedErrorRate(plan, ids)).toBeGreaterThan(target.errorRate * 0.4);
      }
    }
  });

  it.each(['guava', 'redisson', 'go-zero', 'redisbloom'] as const)(
    'of layout %s is what a filter shows',
    (layout) => {
      const plan = planners[layout]!.plan(target);
      const filter = {
        guava: () => guava.create({ ...target, funnel: 'stringFunnel' }),
        redisson: () => redisson.create({ ...target, codec: 'StringCodec' }),
        'go-zero': () => goZero.create({ bits: plan.bits }),
        redisbloom: () => redisBloom.create(target),
      }[layout]();
      for (let i = 0; i < target.capacity; i++) filter.add(`id-${i}`);
      expect(filter.estimate().errorRate / plan.modelledErrorRate).toBeCloseTo(1, 1);
      let falsePositives = 0;
      for (let i = 0; i < 40_000; i++) if (filter.mightContain(`absent-${i}`)) falsePositives++;
      // Double hashing and chance: within a quarter.
      expect(Math.abs(falsePositives / 40_000 / plan.modelledErrorRate - 1)).toBeLessThan(0.25);
    },
  );

  it.each(kinds)('of layout %s is refused for what cannot be', (_, planner) => {
    for (const capacity of [0, -1, 1.5, NaN, Infinity, 2 ** 53]) {
      expect(() => planner.plan({ capacity, errorRate: 0.01 })).toThrow(BloomConfigError);
    }
    for (const errorRate of [0, 1, -0.1, NaN]) {
      expect(() => planner.plan({ capacity: 100, errorRate })).toThrow(BloomConfigError);
    }
  });

  it('of another layout is not for planFilter and expectedErrorRate', () => {
    expect(() => planFilter({ ...target, layout: 'guava' } as never)).toThrow(
      /called without a layout, .* got 'guava'.* call plan\(\{ capacity, errorRate \}\)/,
    );
    expect(() => expectedErrorRate(guava.plan(target) as never, 10)).toThrow(/Expected a plan of planFilter/);
  });
});
