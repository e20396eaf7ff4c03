import { describe, expect, it } from '@jest/globals';
import { expectNoneDenied, expectRatesWithin, layersOf } from './growing-properties.js';
import { BloomConfigError, BloomFullError, type BloomId, BloomIdError } from 'nestjs-bloom/filter';
import { planLayer, ScalableFilter } from '../../src/scaling/index.js';

describe('The layers of a filter that grows', () => {
  it('have error rates that are within the one asked for, all together', () => expectRatesWithin(5));

  it('are made for maxCapacity ids together, for which the last one is cut', () => {
    const target = { capacity: 1000, errorRate: 0.01 };
    const capacities = (maxCapacity: number, expansion = 2) =>
      layersOf({ ...target, scaling: { maxCapacity, expansion } }, 9).map(({ capacity }) => capacity);
    expect(capacities(1000)).toEqual([1000]);
    expect(capacities(1001)).toEqual([1000, 1]);
    expect(capacities(7000)).toEqual([1000, 2000, 4000]);
    expect(capacities(10_000)).toEqual([1000, 2000, 4000, 3000]);
    expect(capacities(2500, 1)).toEqual([1000, 1000, 500]);
    expect(capacities(1_000_000, 1024)).toEqual([1000, 999_000]);
    expect(planLayer({ ...target, scaling: { maxCapacity: 7000 } }, 1_000_000)).toBeUndefined();
    const tooFew = { ...target, scaling: { maxCapacity: 999 } };
    expect(() => planLayer(tooFew, 0)).toThrow(/maxCapacity to be at least capacity, 1000, got 999/);
  });

  it('refuse what is beyond maxCapacity', () => {
    const filter = new ScalableFilter({ capacity: 10, errorRate: 0.001, scaling: { maxCapacity: 25 } });
    for (let i = 0; i < 25; i++) filter.add(`id-${i}`);
    expect(() => {
      for (let i = 25; i < 35; i++) filter.add(`id-${i}`);
    }).toThrow(/Expected at most 25 ids in 2 layers, .* maxCapacity/);
  });

  it('have capacities and error rates in proportion', () => {
    const target = { capacity: 1000, errorRate: 0.01, scaling: { expansion: 3, tightening: 0.5 } };
    expect(layersOf(target, 4).map(({ capacity, errorRate }) => [capacity, errorRate])).toEqual([
      [1000, 0.005],
      [3000, 0.0025],
      [9000, 0.00125],
      [27_000, 0.000625],
    ]);
    const usual = layersOf({ capacity: 1000, errorRate: 0.01 }, 3);
    expect(usual.map(({ capacity }) => capacity)).toEqual([1000, 2000, 4000]);
    expect(usual[1]!.errorRate / usual[0]!.errorRate).toBeCloseTo(0.8, 10);
  });

  it('are enough for a million times the first capacity at 0.1 %', () => {
    const plans = layersOf({ capacity: 100, errorRate: 1e-3 }, 40);
    expect(plans.reduce((sum, { capacity }) => sum + capacity, 0)).toBeGreaterThan(1e8);
  });

  it('end where a further one would exceed the error rate', () => {
    const target = { capacity: 10, errorRate: 1e-4, scaling: { tightening: 0.5 } };
    const plans = layersOf(target, 40);
    expect(plans.length).toBeGreaterThan(5);
    expect(plans.length).toBeLessThan(12);
    expect(plans.at(-1)!.errorRate).toBe(1e-6);
    expect(layersOf({ capacity: 10, errorRate: 1e-6 }, 40)).toHaveLength(1);
  });

  it('end where a further one would exceed 4 GiB', () => {
    const plans = layersOf({ capacity: 1e9, errorRate: 0.01 }, 40);
    expect(plans).toHaveLength(2);
  });

  it.each([
    [{ capacity: 0, errorRate: 0.01 }, /capacity/],
    [{ capacity: 1.5, errorRate: 0.01 }, /capacity/],
    [{ capacity: 10, errorRate: 0 }, /errorRate/],
    [{ capacity: 10, errorRate: 1 }, /errorRate/],
    [{ capacity: 10, errorRate: 0.01, scaling: { expansion: 0 } }, /expansion/],
    [{ capacity: 10, errorRate: 0.01, scaling: { expansion: 1.5 } }, /expansion/],
    [{ capacity: 10, errorRate: 0.01, scaling: { expansion: 1025 } }, /expansion/],
    [{ capacity: 10, errorRate: 0.01, scaling: { tightening: 0 } }, /tightening/],
    [{ capacity: 10, errorRate: 0.01, scaling: { tightening: 1 } }, /tightening/],
    [{ capacity: 10, errorRate: 0.01, scaling: { tightening: NaN } }, /tightening/],
    [{ capacity: 1e12, errorRate: 0.01 }, /the limit is/],
  ])('of %j are refused', (target, message) => {
    expect(() => new ScalableFilter(target)).toThrow(BloomConfigError);
    expect(() => new ScalableFilter(target)).toThrow(message);
  });
});

describe('A filter that grows', () => {
  it('never denies an id that was added, and counts it once', () => expectNoneDenied(20));

  it('opens a layer for the id that has no room in the last, and not before', () => {
    const filter = new ScalableFilter({ capacity: 10, errorRate: 1e-4 });
    for (let i = 0; i < 10; i++) filter.add(i);
    for (let i = 0; i < 10; i++) filter.add(i);
    expect(filter.describe()).toHaveLength(1);
    filter.add('one more');
    expect(filter.describe().map(({ ids, plan }) => [ids, plan.capacity])).toEqual([
      [10, 10],
      [1, 20],
    ]);
  });

  it('that has no further layer is full', () => {
    const filter = new ScalableFilter({ capacity: 5, errorRate: 1e-6 });
    for (let i = 0; i < 5; i++) filter.add(i);
    expect(() => filter.add('x')).toThrow(BloomFullError);
    expect(() => filter.add('x')).toThrow(/Expected at most 5 ids in 1 layer, got one more/);
    expect(filter.add(3)).toBe(false);
    expect(filter.mightContain('x')).toBe(false);
  });

  it('that has no further layer takes more ids if told so, at a higher error rate', () => {
    const filter = new ScalableFilter({ capacity: 50, errorRate: 1e-6 }, { overfills: true });
    for (let i = 0; i < 500; i++) filter.add(i);
    for (let i = 0; i < 500; i++) expect(filter.mightContain(i)).toBe(true);
    expect(filter.describe()).toHaveLength(1);
    expect(filter.modelledErrorRate).toBeGreaterThan(1e-6);
  });

  it('refuses what is no id, and ids that are too long', () => {
    const filter = new ScalableFilter({ capacity: 5, errorRate: 0.01 }, { maxIdBytes: 16 });
    for (const value of ['', undefined, null, {}, 1.5]) {
      expect(() => filter.add(value as BloomId)).toThrow(BloomIdError);
      expect(() => filter.mightContain(value as BloomId)).toThrow(BloomIdError);
    }
    expect(() => filter.add('x'.repeat(17))).toThrow(/at most 16 bytes/);
    expect(filter.mightContain('x'.repeat(17))).toBe(false);
    expect(filter.ids).toBe(0);
  });
});
