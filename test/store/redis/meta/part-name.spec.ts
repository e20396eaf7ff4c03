import { describe, expect, it } from '@jest/globals';
import { clusterSlot } from '../../../../src/store/index.js';
import { partName } from '../../../../src/store/redis/meta/redis-keys.js';

const SLOTS = 16_384;

describe('The names of parts', () => {
  // Keys that are stored have these names.
  it('never change', () => {
    expect([0, 1, 2, 3, 15].map((index) => partName('products', index))).toEqual([
      'products',
      'products#1.1323',
      'products#2.22',
      'products#3.194',
      'products#15.349',
    ]);
  });

  it.each([2, 3, 4, 5, 8])('spread 16 parts evenly over %p masters', (masters) => {
    for (const filter of ['products', 'a', 'orders.v2', 'x'.repeat(200)]) {
      const counts = Array.from({ length: masters }, () => 0);
      for (let index = 0; index < 16; index++) {
        counts[Math.floor((clusterSlot(`bloom:{${partName(filter, index)}}:meta`) * masters) / SLOTS)]!++;
      }
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(2);
    }
  });
});
