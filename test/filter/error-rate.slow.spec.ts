import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OutsideJest } from '../support/outside-jest.js';
import { SEED } from '../support/random.js';
import { endlessPatterns, type ErrorRates, type Measurement, smallPatterns } from './false-positives.js';

let thread: OutsideJest;

beforeAll(async () => {
  thread = await OutsideJest.load('test/filter/false-positives');
});
afterAll(() => thread.close());

function measure(measurement: Partial<Measurement>): Promise<ErrorRates> {
  const usual = { seed: SEED, pattern: 'random bytes', keys: 40, capacity: 100_000, load: 1 };
  return thread.call('measureErrorRate', { ...usual, ...measurement });
}

describe(`The measured error rate (SEED=${SEED})`, () => {
  it.each([
    { errorRate: 1e-2, absentIds: 100_000 },
    { errorRate: 1e-3, absentIds: 750_000 },
    { errorRate: 1e-4, absentIds: 2_250_000 },
  ])('at capacity is that of the model, and below the target of $errorRate', async (target) => {
    const { mean, noise, modelled } = await measure(target);
    expect(noise / mean).toBeLessThan(0.015);
    expect(Math.abs(mean / modelled - 1)).toBeLessThan(0.05);
    expect(mean).toBeLessThanOrEqual(target.errorRate);
  });

  it.each([
    { errorRate: 1e-2, load: 0.5, absentIds: 1_000_000 },
    { errorRate: 1e-3, load: 1.5, absentIds: 100_000 },
  ])('of a filter for $errorRate is that of the model with $load of its capacity', async (target) => {
    const { mean, noise, modelled } = await measure(target);
    expect(noise / mean).toBeLessThan(0.0175);
    expect(Math.abs(mean / modelled - 1)).toBeLessThan(0.05);
  });
});

describe(`The error rate for ids that follow a pattern (SEED=${SEED})`, () => {
  it.each(endlessPatterns)('is not above that of the model: %s', async (pattern) => {
    const { mean, noise, modelled } = await measure({
      pattern,
      capacity: 20_000,
      errorRate: 1e-2,
      absentIds: 30_000,
    });
    expect(noise / mean).toBeLessThan(0.03);
    expect(mean).toBeLessThanOrEqual(modelled + 4 * noise);
  });

  it.each(smallPatterns)('is not above that of the model: %s', async (pattern) => {
    const input = { seed: SEED, pattern, keys: 40, errorRate: 1e-2 };
    const { mean, noise, modelled } = await thread.call<ErrorRates>('measureSmallPattern', input);
    expect(noise / mean).toBeLessThan(0.03);
    expect(mean).toBeLessThanOrEqual(modelled + 4 * noise);
  });
});
