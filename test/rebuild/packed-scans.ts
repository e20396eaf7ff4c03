import { describe, expect, it } from '@jest/globals';
import { BlockedFilter, BlockedWindow, createGeneration, planFilter } from '../../src/filter/index.js';
import { packableIds, type PackedIds } from '../../src/rebuild/index.js';
import { scanSource } from '../../src/rebuild/scan.js';
import { StallTimer } from '../../src/rebuild/stall-timer.js';
import type { LocalFilter } from '../../src/store/index.js';
import { LEASE_MS } from '../support/built-filter.js';
import { Random, SEED } from '../support/random.js';
import { rebuildJob } from '../support/rebuild-job.js';

const MOST_ID_BYTES = 64;
/** Five regions, the last of which is not whole. */
const GENERATION = {
  ...createGeneration(planFilter({ capacity: 60_000, errorRate: 0.001 }), MOST_ID_BYTES),
  key: [0xfedcba98, 0x89abcdef] as const,
  blocks: 4_500,
};

/** Ids of all lengths, and some that are none: empty, or too long. */
function someIds(random: Random): { ids: Uint8Array[]; bad: number } {
  let bad = 0;
  const ids = Array.from({ length: 40_000 }, () => {
    const chance = random.below(1000);
    if (chance < 2) bad++;
    if (chance === 0) return new Uint8Array(0);
    if (chance === 1) return random.bytes(MOST_ID_BYTES + 1 + random.below(200_000));
    return random.bytes(1 + random.below(chance < 50 ? MOST_ID_BYTES : 13));
  });
  return { ids, bad };
}

function packed(ids: readonly Uint8Array[]): PackedIds {
  let end = 0;
  const ends = Uint32Array.from(ids, (id) => (end += id.length));
  return { bytes: new Uint8Array(Buffer.concat(ids)), ends, count: ids.length, areText: false };
}

async function scan(ids: readonly Uint8Array[], filter: LocalFilter, capacity = ids.length) {
  const source = {
    ids: () =>
      packableIds(async function* () {
        for (let from = 0; from < ids.length; from += 7_777) yield packed(ids.slice(from, from + 7_777));
      }, undefined),
  };
  const watch = new StallTimer(new AbortController().signal, LEASE_MS);
  const job = rebuildJob({} as never, source);
  return scanSource({
    ...job,
    filter,
    capacity,
    watch,
    onBadId: 'skip',
    spellsAs: () => true,
    onRead: () => {},
  }).finally(() => watch.close());
}

/** All bits that one id after the other sets. */
function straight(ids: readonly Uint8Array[]) {
  const filter = new BlockedFilter(GENERATION);
  const good = ids.filter((id) => id.length > 0 && id.length <= MOST_ID_BYTES);
  return { newIds: good.filter((id) => filter.add(id)).length, bytes: Buffer.from(filter.bytes), good };
}

/** What a scan of packed ids has to be, whether they are added many at once or one by one. */
export function scansPacked(): void {
  describe(`a scan of packed ids (seed ${SEED})`, () => {
    it.each([0, 1, 2])('sets the bits that each id alone sets, round %d', async (round) => {
      const { ids, bad } = someIds(new Random(SEED + round));
      const filter = new BlockedFilter(GENERATION);
      const result = await scan(ids, filter);
      const expected = straight(ids);
      expect(Buffer.from(filter.bytes).equals(expected.bytes)).toBe(true);
      expect(result).toMatchObject({ idsRead: ids.length, overflow: undefined, bad: { skipped: bad } });
      // Which of two ids counts that share their bits depends on the order.
      expect(Math.abs(result.distinctIds - expected.newIds)).toBeLessThan(20);
      const known = new Set(expected.good.map((id) => Buffer.from(id).toString('hex')));
      const sample = result.sample.map((id) => Buffer.from(id as Uint8Array).toString('hex'));
      expect(sample).toHaveLength(256);
      expect(sample.filter((id) => !known.has(id))).toEqual([]);
    });

    it('keeps what belongs to a pass', async () => {
      const { ids } = someIds(new Random(SEED));
      const { bytes } = straight(ids);
      const window = new BlockedWindow(GENERATION, 4_400);
      for (const [first, blocks] of [
        [0, 4_400],
        [100, 4_400],
        [50, 4_200],
      ] as const) {
        window.moveTo(first, blocks);
        const { sample, distinctIds } = await scan(ids, window);
        expect(Buffer.from(window.bytes).equals(bytes.subarray(first * 256, (first + blocks) * 256))).toBe(
          true,
        );
        expect(distinctIds).toBeLessThan(straight(ids).newIds);
        const whole = new BlockedFilter(GENERATION);
        for (const id of sample) {
          whole.layout.locate(id);
          expect(whole.layout.block - first).toBeGreaterThanOrEqual(0);
          expect(whole.layout.block - first).toBeLessThan(blocks);
        }
      }
    });

    it('counts the ids alone when it has found that there are too many', async () => {
      const { ids } = someIds(new Random(SEED));
      const result = await scan(ids, new BlockedFilter(GENERATION), 20_000);
      expect(result.idsRead).toBe(ids.length);
      expect(result.overflow! / straight(ids).newIds).toBeCloseTo(1, 1);
    });
  });
}
