import { describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import {
  BLOCK_BYTES,
  BLOCK_DATA_BITS,
  BlockedFilter,
  BlockedLayout,
  type BloomId,
  EXACT_LAYOUT,
  type Generation,
  generationOf,
  integerOfText,
  layoutOf,
  measuredFillOf,
  planExact,
  sampledBlocks,
  toIdKey,
} from '../../src/filter/index.js';

/**
 * A stored layout is a promise for ever. The bits of integers follow from the description at `ExactLayout` by
 * hand, those of hashed ids from the golden values of layout 1, the digest from a second implementation
 * (Python) of both descriptions. Never change them; another way of placing bits is another layout number.
 */
const GENERATION: Generation = {
  layout: 8,
  tag: 0xdecafbad,
  key: [0x01234567, 0x89abcdef],
  blocks: 1_003,
  hashCount: 7,
  maxIdBytes: 1024,
  range: { first: -5, blocks: 3 },
};
const OWN_BITS: readonly (readonly [id: BloomId, block: number, bit: number])[] = [
  [-5, 0, 32],
  [-1, 0, 36],
  [0, 0, 37],
  [42, 0, 79],
  [2010n, 0, 2047],
  ['2011', 1, 32],
  [new TextEncoder().encode('2012'), 1, 33],
  [6042, 2, 2047],
];
const HASHED: readonly (readonly [id: BloomId, block: number, seed: number, positions: number[]])[] = [
  ['a', 116, 1673083164 + 2 ** 31, [1694, 85, 1068, 871, 61, 2013, 1863]],
  ['SKU-0001', 552, 2806001267, [776, 237, 783, 1101, 1303, 765, 914]],
  ['商品-1', 910, 1321757223 + 2 ** 31, [527, 1095, 1533, 468, 147, 294, 218]],
  [2n ** 64n, 149, 3205330036, [576, 966, 88, 507, 1515, 1238, 320]],
];
const NOT_OF_RANGE: readonly BloomId[] = [
  -6,
  6043,
  Number.MAX_SAFE_INTEGER,
  2n ** 53n,
  10n ** 15n,
  10n ** 16n,
  '01',
  '+1',
  '-0',
  '1.0',
  ' 1',
  '1e3',
  '0x1',
  '١',
  '-',
  'NaN',
  '1\0',
  Uint8Array.of(1),
];

function located(layout: BlockedLayout, id: BloomId) {
  const fits = layout.locate(toIdKey(id));
  return { fits, block: layout.block, seed: layout.seed };
}

describe('Layout 8', () => {
  it('has its number for ever', () => {
    expect(EXACT_LAYOUT).toBe(8);
    expect(generationOf({ capacity: 10, errorRate: 0.001, maxIdBytes: 64 }).layout).toBe(1);
    const range = { first: 1, integers: 10 };
    expect(generationOf({ capacity: 10, errorRate: 0.001, maxIdBytes: 64, range }).layout).toBe(8);
  });

  it.each(OWN_BITS)('gives integer %s its bit', (id, block, bit) => {
    const layout = layoutOf(GENERATION);
    expect(located(layout, id)).toEqual({ fits: true, block, seed: bit });
    expect(layout.isOwnBit).toBe(true);
    expect(layout.positions(bit)).toEqual([bit]);
  });

  it.each(HASHED)(
    'hashes %s as layout 1 does, into the blocks behind the range',
    (id, block, seed, positions) => {
      const layout = layoutOf(GENERATION);
      expect(located(layout, id)).toMatchObject({ fits: true, block, seed: seed | 0 });
      expect(layout.isOwnBit).toBe(false);
      const ofLayout1 = new BlockedLayout({ ...GENERATION, layout: 1, blocks: 1_000 });
      ofLayout1.locate(toIdKey(id));
      expect(ofLayout1.positions(ofLayout1.seed)).toEqual(positions);
      // The highest bit of the seed is set, which changes no more than that.
      expect(layout.positions(layout.seed)).toEqual(ofLayout1.positions(ofLayout1.seed | (1 << 31)));
    },
  );

  it.each(NOT_OF_RANGE)('hashes %s, which is no integer of the range', (id) => {
    const layout = layoutOf(GENERATION);
    const { block, seed } = located(layout, id);
    expect(block).toBeGreaterThanOrEqual(3);
    expect(block).toBeLessThan(GENERATION.blocks);
    expect(seed).toBeLessThan(0);
  });

  it('gives a filter of 100,000 ids the bytes it always had', () => {
    const filter = new BlockedFilter(GENERATION);
    for (let i = 0; i < 100_000; i++) filter.add(i * 3 - 2_000);
    expect(createHash('sha256').update(filter.bytes).digest('hex')).toBe(
      '23726c35a90376e93944e71951066ec7d50e039ed27f52504b5676b15e3c47d8',
    );
  });

  it('places an id alike in text and in bytes', () => {
    const layout = layoutOf(GENERATION);
    const bytes = new Uint8Array(100);
    const someId = fc.oneof(
      fc.integer({ min: -10, max: 7_000 }).map(String),
      fc.maxSafeInteger().map(String),
      fc.stringMatching(/^[-+0-9a.]{1,20}$/),
      fc.string({ minLength: 1, maxLength: 20 }),
    );
    fc.assert(
      fc.property(someId, fc.integer({ min: 0, max: 9 }), (id, start) => {
        const expected = located(layout, id);
        const { written } = new TextEncoder().encodeInto(id, bytes.subarray(start));
        layout.locateBytes(bytes, start, start + written);
        expect({ fits: true, block: layout.block, seed: layout.seed }).toEqual(expected);
        expect(located(layout, bytes.slice(start, start + written))).toEqual(expected);
      }),
    );
  });

  it('reads an integer only as it is written', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (integer) =>
        expect(integerOfText(String(integer))).toBe(Number(String(integer))),
      ),
    );
    for (const text of ['', '-', '-0', '00', '007', '+7', '7.0', '7 ', '12345678901234567'])
      expect(integerOfText(text)).toBeNaN();
  });

  it('refuses an id over maxIdBytes, by the tag of block 0', () => {
    const layout = layoutOf({ ...GENERATION, maxIdBytes: 20 });
    expect(located(layout, 'x'.repeat(21))).toEqual({ fits: false, block: 0, seed: 0 });
  });
});

const range = { first: 1, integers: 100_000 };

describe('A filter of layout exact', () => {
  const create = () =>
    new BlockedFilter(generationOf({ capacity: 100_000, errorRate: 0.001, maxIdBytes: 64, range }));

  it('answers each integer of its range exactly, whatever else is in it', () => {
    const filter = create();
    const has = (id: number) => (id * 7919) % 3 === 0;
    const all = Array.from({ length: 100_000 }, (_, i) => i + 1);
    const others = Array.from({ length: 1_000 }, (_, i) => `other ${i}`);
    for (const id of [...all.filter(has), ...others]) filter.add(id);
    expect(all.filter((id) => filter.mightContain(id) !== has(id))).toEqual([]);
    expect(others.filter((id) => !filter.mightContain(id))).toEqual([]);
  });

  it('never denies an id that was added, of the range or not', () => {
    const someId: fc.Arbitrary<BloomId> = fc.oneof(
      fc.integer({ min: -100, max: 120_000 }),
      fc.maxSafeInteger(),
      fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
      fc.string({ minLength: 1, maxLength: 20 }),
      fc.uint8Array({ minLength: 1, maxLength: 20 }),
    );
    fc.assert(
      fc.property(fc.array(someId, { maxLength: 200 }), (ids) => {
        const filter = create();
        for (const id of ids) {
          const isThere = filter.mightContain(id);
          expect(filter.add(id)).toBe(!isThere);
        }
        for (const id of ids) expect(filter.mightContain(id)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('has at most 1.1 bits for each integer of the range, whatever the error rate', () => {
    for (const integers of [1_000_000, 100_000_000])
      for (const errorRate of [0.5, 0.01, 0.001, 1e-6]) {
        const { blocks } = planExact({ first: 1, integers }, errorRate)!;
        expect((blocks * BLOCK_BYTES * 8) / integers).toBeLessThan(1.1);
        expect(
          planExact({ first: 1, integers }, errorRate)!.range!.blocks * BLOCK_DATA_BITS,
        ).toBeGreaterThanOrEqual(integers);
      }
  });

  it('has no range that goes beyond the safe integers, or the largest filter', () => {
    expect(planExact({ first: Number.MAX_SAFE_INTEGER - 100, integers: 1_000 }, 0.001)).toBeUndefined();
    expect(planExact({ first: 1, integers: 2 ** 36 }, 0.001)).toBeUndefined();
    expect(
      generationOf({ capacity: 10, errorRate: 0.001, maxIdBytes: 64, range: { first: 1, integers: 2 ** 36 } })
        .layout,
    ).toBe(1);
  });

  it('shows the share of its integers, and the error rate of all other ids', () => {
    const filter = create();
    const { generation, bytes } = filter;
    for (let id = 1; id <= 50_000; id++) filter.add(id);
    const half = measuredFillOf(bytes, generation);
    expect(half.errorRate).toBe(0);
    expect(half.fillRatio).toBeGreaterThan(0.45);
    expect(half.fillRatio).toBeLessThan(0.55);
    for (let id = 0; id < 10_000; id++) filter.add(`other ${id}`);
    expect(measuredFillOf(bytes, generation).errorRate).toBeGreaterThan(0.9);
    expect(sampledBlocks(generation).length).toBeLessThanOrEqual(512);
  });
});
