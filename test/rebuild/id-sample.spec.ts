import { describe, expect, it } from '@jest/globals';
import { IdSample } from '../../src/rebuild/id-sample.js';

function sampleOf(ids: number): number[] {
  const sample = new IdSample();
  for (let id = 0; id < ids; id++) {
    if (sample.passing > 0) sample.passing--;
    else sample.take(String(id));
  }
  return sample.ids.map(Number);
}

describe('IdSample', () => {
  it('has all ids of a few, and 256 different ones of many', () => {
    expect(sampleOf(0)).toEqual([]);
    expect(sampleOf(256)).toEqual(Array.from({ length: 256 }, (_, id) => id));
    expect(new Set(sampleOf(100_000)).size).toBe(256);
  });

  it('takes each id with the same chance, wherever it comes', () => {
    const tenths = Array.from({ length: 10 }, () => 0);
    for (let round = 0; round < 200; round++)
      for (const id of sampleOf(5_120)) tenths[Math.floor(id / 512)]!++;
    // 5,120 each, by a standard deviation of 68.
    for (const count of tenths) expect(Math.abs(count - 5_120)).toBeLessThan(550);
  });
});
