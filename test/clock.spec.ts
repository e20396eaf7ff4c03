import { performance } from 'node:perf_hooks';
import { afterEach, describe, expect, it, jest } from '@jest/globals';

const original = process.hrtime;
const still = Object.assign((): [number, number] => [7, 0], { bigint: original.bigint });

afterEach(() => {
  process.hrtime = original;
});

describe('The clock of the system', () => {
  it.each([
    ['the time of the process', original],
    ['a time of the process that stands still', still],
  ])('gives what performance.now gives, by %s', async (_, hrtime) => {
    jest.resetModules();
    process.hrtime = hrtime;
    const { systemClock } = await import('../src/common/index.js');
    let last = -Infinity;
    for (let i = 0; i < 100; i++) {
      const before = performance.now();
      const now = systemClock.now();
      // Far more than lay between two reads when the clocks were compared.
      expect(now).toBeGreaterThan(before - 5);
      expect(now).toBeLessThan(performance.now() + 5);
      expect(now).toBeGreaterThanOrEqual(last);
      last = now;
    }
  });
});
