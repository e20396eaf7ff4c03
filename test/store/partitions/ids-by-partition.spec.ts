import { describe, expect, it } from '@jest/globals';
import {
  BlockedFilter,
  BlockedWindow,
  createGeneration,
  partOf,
  planFilter,
} from '../../../src/filter/index.js';
import type { DeferringFilter, LocalFilter } from '../../../src/store/index.js';
import { IdsByPartition, type PartOfPass } from '../../../src/store/partitions/ids-by-partition.js';
import { Random, SEED } from '../../support/random.js';

const PARTS = 5;
const MOST_ID_BYTES = 2_000;
/** Together enough to be filled region by region. */
const GENERATIONS = Array.from({ length: PARTS }, (_, part) => ({
  ...createGeneration(planFilter({ capacity: 10_000, errorRate: 0.001 }), MOST_ID_BYTES),
  key: [part, 0xffffffff - part] as const,
  blocks: 1_100 + part,
}));
const IDS = idsOf(new Random(SEED));

function idsOf(random: Random): Uint8Array[] {
  return Array.from({ length: 30_000 }, () =>
    // The first 1,024 bytes of a longer one decide about the part.
    random.bytes(1 + random.below(random.below(200) === 0 ? MOST_ID_BYTES : 20)),
  );
}

function dealt(locals: ReadonlyMap<number, LocalFilter>, { pass = 0, passes = 1 } = {}) {
  const counts = Array.from({ length: PARTS }, () => 0);
  const parts = counts.map((_, part): PartOfPass => {
    const local = locals.get(part);
    if (!local) return pass > 0 ? 'elsewhere' : 'not rebuilt';
    return pass < passes ? local : 'elsewhere';
  });
  return { counts, filter: new IdsByPartition(parts, counts) };
}

const FORMS: Record<string, (filter: DeferringFilter, ids: readonly Uint8Array[]) => number> = {
  keys: (filter, ids) => ids.filter((id) => filter.addKey(id)).length,
  bytes: (filter, ids) => ids.filter((id) => filter.addBytes!(id, 0, id.length)).length,
  runs: (filter, ids) => {
    let end = 0;
    const ends = Uint32Array.from(ids, (id) => (end += id.length));
    const bytes = new Uint8Array(Buffer.concat(ids));
    let newIds = 0;
    let runs = 0;
    for (let i = 0; i < ids.length;) {
      const added = filter.addRun!({ bytes, ends }, i, Math.min(ids.length, i + 700));
      if (added > 1) runs++;
      if (added === 0 && filter.addBytes!(bytes, i === 0 ? 0 : ends[i - 1]!, ends[i]!)) newIds++;
      i += added || 1;
    }
    expect(runs).toBeGreaterThan(10);
    return newIds;
  },
};

function settled(filter: DeferringFilter): number {
  while (filter.settleRegion());
  return filter.takeNew();
}

const ofPart = (part: number) => IDS.filter((id) => partOf(id, PARTS) === part);

function straight(part: number) {
  const filter = new BlockedFilter(GENERATIONS[part]!);
  const newIds = ofPart(part).filter((id) => filter.add(id)).length;
  return { newIds, bytes: Buffer.from(filter.bytes) };
}

describe(`A scan that is dealt over parts (seed ${SEED})`, () => {
  it.each(['keys', 'bytes', 'runs'])('sets the bits of each part region by region, given %s', (form) => {
    const locals = new Map(GENERATIONS.map((generation, part) => [part, new BlockedFilter(generation)]));
    const { filter, counts } = dealt(locals);
    const deferred = filter.deferred()!;
    const newIds = FORMS[form]!(deferred, IDS) + settled(deferred);
    let sum = 0;
    for (const [part, local] of locals) {
      const expected = straight(part);
      expect(Buffer.from(local.bytes).equals(expected.bytes)).toBe(true);
      // Which of two ids counts that share their bits depends on the order.
      expect(Math.abs(counts[part]! - expected.newIds)).toBeLessThan(20);
      sum += counts[part]!;
    }
    expect(newIds).toBe(sum);
    expect(settled(deferred)).toBe(0);
  });

  it.each(['keys', 'bytes', 'runs'])('counts ids of parts that are not rebuilt once, given %s', (form) => {
    const locals = new Map([0, 1, 2, 3].map((part) => [part, new BlockedFilter(GENERATIONS[part]!)]));
    const { filter, counts } = dealt(locals);
    const deferred = filter.deferred()!;
    const newIds = FORMS[form]!(deferred, IDS) + settled(deferred);
    expect(newIds).toBe(ofPart(4).length + counts.reduce((sum, count) => sum + count));
    expect(counts[4]).toBe(0);

    const next = dealt(new Map(), { pass: 1 }).filter;
    expect(next.deferred()).toBeUndefined();
    for (const id of IDS.slice(0, 100)) {
      expect(next.addKey(id)).toBe(false);
      expect(next.isElsewhere).toBe(true);
    }
  });

  it.each(['keys', 'bytes', 'runs'])('leaves out what is of another pass, given %s', (form) => {
    const windows = GENERATIONS.map((generation) => {
      const window = new BlockedWindow(generation, 1_050);
      window.moveTo(50, 1_050);
      return window;
    });
    const { filter } = dealt(new Map(windows.entries()), { passes: 2 });
    const deferred = filter.deferred()!;
    const newIds = FORMS[form]!(deferred, IDS) + settled(deferred);
    expect(newIds).toBeGreaterThan(0);
    expect(newIds).toBeLessThan(IDS.length * 0.99);
    for (const [part, window] of windows.entries()) {
      const bytes = straight(part).bytes.subarray(50 * 256, 1_100 * 256);
      expect(Buffer.from(window.bytes).equals(bytes)).toBe(true);
    }
  });

  it('adds ids one by one where a part is no filter of blocks, or all are small', () => {
    const plain: LocalFilter = { addKey: () => true };
    expect(dealt(new Map([[0, plain]])).filter.addBytes).toBeUndefined();
    expect(dealt(new Map([[0, plain]])).filter.deferred()).toBeUndefined();
    const small = dealt(new Map([[0, new BlockedFilter({ ...GENERATIONS[0]!, blocks: 100 })]]));
    expect(small.filter.deferred()).toBeUndefined();
    expect(ofPart(0).filter((id) => small.filter.addBytes!(id, 0, id.length)).length).toBe(small.counts[0]);
  });
});
