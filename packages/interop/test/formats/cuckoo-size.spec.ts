import { describe, expect, it } from '@jest/globals';
import { BloomConfigError } from 'nestjs-bloom/filter';
import { cuckoo, type CuckooTarget } from '../../src/index.js';

describe('The size of a cuckoo filter', () => {
  // As RedisBloom 2.8.20 and 8.0.8 answered.
  it.each<[CuckooTarget, number, number]>([
    [{}, 512, 1],
    [{ capacity: 4 }, 2, 1],
    [{ capacity: 10, expansion: 0 }, 8, 0],
    [{ capacity: 10, expansion: 3 }, 8, 4],
    [{ capacity: 10, expansion: 32_768 }, 8, 32_768],
    [{ capacity: 510, bucketSize: 255 }, 2, 1],
    [{ capacity: 1000, bucketSize: 3 }, 512, 1],
    [{ capacity: 100, bucketSize: 3, expansion: 5 }, 64, 8],
    [{ capacity: 16_777_216, bucketSize: 1 }, 16_777_216, 1],
    [{ capacity: 2 ** 30, bucketSize: 1 }, 2 ** 30, 1],
  ])('of %j is that of Redis', (target, buckets, expansion) => {
    expect(cuckoo.size(target)).toMatchObject({ buckets, expansion });
  });

  it.each<CuckooTarget>([
    { capacity: 3 },
    { capacity: 0 },
    { capacity: -1 },
    { capacity: NaN },
    { capacity: 2 ** 30 + 1 },
    { capacity: 7, bucketSize: 4 },
    { bucketSize: 0 },
    { bucketSize: 256 },
    { bucketSize: 1.5 },
    { maxIterations: 0 },
    { maxIterations: 65_536 },
    { expansion: -1 },
    { expansion: 32_769 },
  ])('of %j is refused, as by Redis', (target) => {
    expect(() => cuckoo.create(target)).toThrow(BloomConfigError);
  });

  it.each([{ buckets: 3 }, { buckets: 0 }, { buckets: 2 ** 33 }, { buckets: NaN }])(
    'of a layout of %j is refused',
    ({ buckets }) => {
      expect(() => cuckoo.layout({ buckets, bucketSize: 2 })).toThrow(BloomConfigError);
    },
  );
});

describe('The error rate of a cuckoo filter', () => {
  it.each([
    [20_000, 0.03],
    [20_000, 0.01],
    [5_000, 0.002],
    [1_000, 0.1],
  ])('of a plan for %d ids at %d is kept, and the plan filled without growing', (capacity, errorRate) => {
    const plan = cuckoo.plan({ capacity, errorRate });
    expect(plan.modelledErrorRate).toBeLessThanOrEqual(errorRate);
    const filter = cuckoo.create({ ...plan.layout, capacity: plan.bytes });
    expect(filter.write()[1]!.data).toHaveLength(plan.bytes);
    for (let i = 0; i < capacity; i++) filter.add(i);
    expect(filter.describe().tables).toBe(1);
    expect(filter.estimate().errorRate / plan.modelledErrorRate).toBeCloseTo(1, 6);
  });

  it('can be planned for one bucket size, and not for what a byte cannot do', () => {
    const plan = cuckoo.plan({ capacity: 20_000, errorRate: 0.02, bucketSize: 2 });
    expect(plan.layout).toEqual({ kind: 'cuckoo', bucketSize: 2 });
    expect(() => cuckoo.plan({ capacity: 10_000_000, errorRate: 1e-5 })).toThrow(
      /needs more than 1073741824 bytes/,
    );
  });
});
