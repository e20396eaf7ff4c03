import { describe, expect, it } from '@jest/globals';
import { BloomConfigError } from '../../src/common/index.js';
import { createGeneration, MAX_ID_BYTES_LIMIT, planFilter } from '../../src/filter/index.js';

const plan = planFilter({ capacity: 1_000, errorRate: 1e-3 });

describe('A generation', () => {
  it('has the size of its plan', () => {
    const { blocks, hashCount } = plan;
    expect(createGeneration(plan)).toMatchObject({ blocks, hashCount, maxIdBytes: 1024 });
  });

  it('has a key and a tag that no other has', () => {
    const generations = Array.from({ length: 1_000 }, () => createGeneration(plan));
    expect(new Set(generations.map(({ key }) => key.join())).size).toBe(1_000);
    // 1,000 numbers of 32 bits: two of them are equal once in 8,600 runs.
    expect(new Set(generations.map(({ tag }) => tag)).size).toBeGreaterThanOrEqual(998);
    for (const { key, tag } of generations) {
      expect(tag).toBeGreaterThan(0);
      for (const word of [...key, tag]) expect(word >>> 0).toBe(word);
    }
  });

  it.each([0, -1, 1.5, NaN, MAX_ID_BYTES_LIMIT + 1])('refuses maxIdBytes of %d', (maxIdBytes) => {
    expect(() => createGeneration(plan, maxIdBytes)).toThrow(BloomConfigError);
    expect(() => createGeneration(plan, maxIdBytes)).toThrow(`from 1 to 65536, got ${maxIdBytes}`);
  });
});
