import { describe, expect, it } from '@jest/globals';
import {
  BlockedLayout,
  BlockedWindow,
  BLOCK_BYTES,
  createGeneration,
  MAX_BLOCKS,
  planFilter,
} from '../../src/filter/index.js';
import { HalfSipHash } from '../../src/filter/half-sip-hash.js';
import { MAX_SEGMENTS, SEGMENT_BYTES } from '../../src/store/redis/staging/segments.js';
import { defineFilter } from '../../src/service/filter-definition.js';

const IDS = Array.from({ length: 20_000 }, (_, i) => `id-${i}`);

/** The most ids of a filter of the largest size, at an error rate. */
function mostIds(errorRate: number): number {
  let [fits, doesNot] = [1, 2 ** 40];
  while (doesNot - fits > 1) {
    const middle = Math.floor((fits + doesNot) / 2);
    try {
      planFilter({ capacity: middle, errorRate });
      fits = middle;
    } catch {
      doesNot = middle;
    }
  }
  return fits;
}

describe('The largest filter', () => {
  it('has as many blocks as there are segments for', () => {
    expect(MAX_BLOCKS * BLOCK_BYTES).toBe(MAX_SEGMENTS * SEGMENT_BYTES);
    expect(MAX_BLOCKS * BLOCK_BYTES).toBe(2 ** 32);
  });

  it.each([
    [0.01, 3_476_000_000],
    [0.001, 2_297_000_000],
    [0.0001, 1_695_000_000],
  ])('at error rate %p is for about %i ids, and a start with one id more fails', (errorRate, about) => {
    const most = mostIds(errorRate);
    expect(most / about).toBeCloseTo(1, 2);
    expect(planFilter({ capacity: most, errorRate }).blocks).toBe(MAX_BLOCKS);
    const define = (capacity: number) => () =>
      defineFilter({ name: 'products', capacity, errorRate, maxBytes: 2 ** 32 });
    expect(define(most)).not.toThrow();
    expect(define(most + 1)).toThrow(/4,?294,?967,?296|4 GiB/);
  });

  it('puts every id where the exact product says, up to the last block', () => {
    const generation = {
      ...createGeneration(planFilter({ capacity: 1, errorRate: 0.001 })),
      blocks: MAX_BLOCKS,
    };
    const layout = new BlockedLayout(generation);
    const hash = new HalfSipHash(generation.key[0] | 0, generation.key[1] | 0);
    const wrong: string[] = [];
    let last = 0;
    for (const id of IDS) {
      layout.locate(id);
      hash.hash(id);
      if (layout.block !== Number((BigInt(hash.first >>> 0) * BigInt(MAX_BLOCKS)) >> 32n)) wrong.push(id);
      last = Math.max(last, layout.block);
    }
    expect(wrong).toEqual([]);
    expect(last).toBeGreaterThan(MAX_BLOCKS * 0.999);
    expect(last).toBeLessThan(MAX_BLOCKS);
  });

  it('is filled at its far end by a pass', () => {
    const blocks = 4096;
    const generation = {
      ...createGeneration(planFilter({ capacity: 1, errorRate: 0.001 })),
      blocks: MAX_BLOCKS,
    };
    const window = new BlockedWindow(generation, blocks);
    window.moveTo(MAX_BLOCKS - blocks, blocks);
    const layout = new BlockedLayout(generation);
    const wrong: string[] = [];
    let inside = 0;
    for (const id of IDS) {
      layout.locate(id);
      const at = (layout.block - (MAX_BLOCKS - blocks)) * BLOCK_BYTES;
      if (window.addKey(id) !== at >= 0 || window.isElsewhere !== at < 0) wrong.push(id);
      if (at < 0) continue;
      inside++;
      if (!layout.contains(window.bytes, at, layout.seed)) wrong.push(id);
    }
    expect(wrong).toEqual([]);
    expect(inside).toBeGreaterThan(0);
  });
});
