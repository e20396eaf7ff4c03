import { describe, expect, it } from '@jest/globals';
import { BloomIdError } from '../../src/common/index.js';
import {
  BLOCK_BYTES,
  BlockedFilter,
  BlockedWindow,
  createGeneration,
  type RegionFilter,
  planFilter,
} from '../../src/filter/index.js';
import { scanSource } from '../../src/rebuild/scan.js';
import { StallTimer } from '../../src/rebuild/stall-timer.js';
import { LEASE_MS } from '../support/built-filter.js';
import { rebuildJob } from '../support/rebuild-job.js';

/** Enough for some regions to be full, and for others not. */
const IDS = Array.from({ length: 60_000 }, (_, i) => `id-${i}`);
/** Five regions, the last of which is not whole. */
const GENERATION = {
  ...createGeneration(planFilter({ capacity: 60_000, errorRate: 0.001 }), 64),
  key: [1, 2] as const,
  blocks: 4_500,
};

function settled(filter: RegionFilter): number {
  while (filter.settleRegion());
  return filter.takeNew();
}

function straight(ids: readonly string[] = IDS) {
  const filter = new BlockedFilter(GENERATION);
  let newIds = 0;
  for (const id of ids) if (filter.add(id)) newIds++;
  return { bytes: Buffer.from(filter.bytes), newIds };
}

describe('A filter that sets bits later', () => {
  it.each(['texts', 'bytes'])('has set the same bits at the end, given %s', (form) => {
    const filter = new BlockedFilter(GENERATION);
    const deferred = filter.deferred()!;
    for (const id of IDS) {
      if (form === 'texts') deferred.addKey(id);
      else deferred.addBytes(Buffer.from(`x${id}`), 1, 1 + id.length);
    }
    settled(deferred);
    expect(Buffer.from(filter.bytes).equals(straight().bytes)).toBe(true);
  });

  it('counts each new id once, in whatever order', () => {
    const deferred = new BlockedFilter(GENERATION).deferred()!;
    let newIds = 0;
    for (let turn = 0; turn < 2; turn++) {
      for (const id of IDS) {
        deferred.addKey(id);
        newIds += deferred.takeNew();
      }
      // Which of two ids counts that share their bits depends on the order.
      expect(Math.abs(newIds + settled(deferred) - straight().newIds)).toBeLessThan(20);
      newIds = straight().newIds;
    }
    expect(settled(deferred)).toBe(0);
  });

  it('lets no id wait when it is settled, and then takes more', () => {
    const filter = new BlockedFilter(GENERATION);
    const deferred = filter.deferred()!;
    for (const id of ['one', 'two', 'three']) {
      deferred.addKey(id);
      expect(settled(deferred)).toBe(1);
      expect(filter.mightContain(id)).toBe(true);
      expect(deferred.settleRegion()).toBe(false);
    }
  });

  it('leaves out what is of another pass', () => {
    const window = new BlockedWindow(GENERATION, 4_400);
    window.moveTo(100, 4_400);
    const deferred = window.deferred()!;
    const inside = IDS.filter((id) => (deferred.addKey(id), !deferred.isElsewhere));
    settled(deferred);
    expect(inside.length).toBeLessThan(IDS.length);
    const whole = straight().bytes;
    expect(Buffer.from(window.bytes).equals(whole.subarray(100 * BLOCK_BYTES))).toBe(true);
  });

  it('refuses an id that is too long', () => {
    const deferred = new BlockedFilter(GENERATION).deferred()!;
    const long = 'x'.repeat(65);
    expect(() => deferred.addKey(long)).toThrow(BloomIdError);
    expect(() => deferred.addBytes(Buffer.from(long), 0, 65)).toThrow(BloomIdError);
    expect(settled(deferred)).toBe(0);
  });

  it('is not used where all blocks are in the caches anyway', () => {
    expect(new BlockedFilter({ ...GENERATION, blocks: 4_095 }).deferred()).toBeUndefined();
  });
});

describe('A scan of a large filter', () => {
  async function scan(ids: readonly string[], capacity: number) {
    const filter = new BlockedFilter(GENERATION);
    const watch = new StallTimer(new AbortController().signal, LEASE_MS);
    const source = {
      async *ids() {
        yield ids;
      },
    };
    const job = rebuildJob({} as never, source);
    const options = { ...job, filter, capacity, watch, onRead: () => {} };
    const result = await scanSource(options).finally(() => watch.close());
    return { result, filter };
  }

  it('ends when all bits are set, and all ids are counted', async () => {
    const { result, filter } = await scan(IDS, IDS.length);
    expect(IDS.filter((id) => !filter.mightContain(id))).toEqual([]);
    expect(result).toMatchObject({ idsRead: IDS.length, overflow: undefined });
    expect(Math.abs(result.distinctIds - straight().newIds)).toBeLessThan(20);
    expect(result.sample).toHaveLength(256);
  });

  it('finds at the end that there were more ids than planned', async () => {
    const { result } = await scan(IDS.slice(0, 1_000), 900);
    expect(result.overflow).toBe(result.distinctIds);
    expect(result.distinctIds).toBeGreaterThan(990);
  });

  it('counts ids alone when it has found that there are too many', async () => {
    const { result } = await scan(IDS, 30_000);
    // Those of a region may wait for the rest of it.
    expect(result.distinctIds).toBeGreaterThan(30_000);
    expect(result.overflow! / IDS.length).toBeCloseTo(1, 1);
  });
});
