import { describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import {
  BlockedFilter,
  BlockedLayout,
  BLOCKED_LAYOUT,
  BLOCK_BYTES,
  type BloomId,
  type Generation,
  toIdKey,
} from '../../src/filter/index.js';
import { referenceHalfSipHash } from './reference-half-sip-hash.js';

/**
 * A stored layout is a promise for ever: filters in Redis outlive the version that wrote them. These values
 * were not printed by this library but computed by a second implementation (Python, big integers) from the
 * description at `BlockedLayout`. Never change them; another way of placing bits is another layout number.
 */
const goldens: {
  generation: Generation;
  ids: [id: BloomId, block: number, seed: number, positions: number[]][];
}[] = [
  {
    generation: {
      layout: 1,
      tag: 0xdecafbad,
      key: [0x01234567, 0x89abcdef],
      blocks: 1_000,
      hashCount: 7,
      maxIdBytes: 1024,
    },
    ids: [
      ['a', 113, 1673083164, [1694, 85, 1068, 871, 61, 2013, 1863]],
      [42, 296, 1050206384, [1517, 1805, 1876, 1692, 1491, 792, 1497]],
      ['SKU-0001', 549, 2806001267, [776, 237, 783, 1101, 1303, 765, 914]],
      ['ünïcødé', 608, 3445483514, [707, 738, 1541, 1765, 886, 898, 1245]],
      ['商品-1', 907, 1321757223, [527, 1095, 1533, 468, 147, 294, 218]],
      ['😀', 596, 3759107418, [1341, 1710, 1702, 1752, 920, 1968, 1529]],
      [-1, 966, 171825879, [256, 717, 681, 836, 201, 407, 1923]],
      [Number.MAX_SAFE_INTEGER, 587, 2301736372, [1299, 1818, 435, 1558, 1624, 1436, 415]],
      [2n ** 64n, 146, 3205330036, [576, 966, 88, 507, 1515, 1238, 320]],
      [Uint8Array.of(0), 257, 3069152792, [380, 2033, 1217, 953, 1163, 1655, 1017]],
      [
        Uint8Array.from({ length: 256 }, (_, at) => at),
        185,
        1521086058,
        [87, 302, 457, 1377, 1477, 1056, 891],
      ],
      ['x'.repeat(1024), 236, 51850000, [1604, 1582, 1894, 75, 276, 1525, 1200]],
    ],
  },
  {
    generation: {
      layout: 1,
      tag: 0x80000001,
      key: [0xfffffffe, 0x80000001],
      blocks: 2 ** 24,
      hashCount: 13,
      maxIdBytes: 1024,
    },
    ids: [
      ['a', 12577686, 88794949, [1221, 1555, 157, 635, 1863, 1151, 1750, 1512, 988, 1963, 251, 1058, 724]],
      [42, 3428344, 3098260931, [858, 707, 1179, 809, 1109, 720, 1337, 356, 566, 1010, 835, 1552, 2042]],
      [
        'SKU-0001',
        2835358,
        1116639771,
        [1107, 1337, 1939, 1339, 1349, 1424, 285, 89, 317, 1799, 1629, 206, 1213],
      ],
      [
        'ünïcødé',
        14306567,
        2716128830,
        [420, 1858, 572, 1950, 366, 1057, 509, 202, 1488, 1250, 826, 907, 1160],
      ],
      ['商品-1', 5526173, 2764898579, [1202, 998, 507, 900, 274, 1185, 1349, 1444, 879, 227, 1057, 71, 793]],
      ['😀', 6527944, 1126395019, [1097, 827, 1267, 112, 1140, 247, 1930, 722, 1262, 1057, 1731, 165, 1329]],
      [-1, 13746231, 3198818250, [623, 39, 717, 1842, 1145, 1980, 1828, 104, 1047, 1577, 1806, 1843, 1737]],
      [
        Number.MAX_SAFE_INTEGER,
        1992425,
        2981453726,
        [1277, 1993, 52, 1219, 1565, 1372, 1548, 1180, 770, 1037, 1133, 633, 1939],
      ],
      [
        2n ** 64n,
        5081846,
        1625590629,
        [1034, 1176, 658, 547, 646, 1799, 1992, 110, 249, 1690, 1646, 926, 1671],
      ],
      [
        Uint8Array.of(0),
        7713151,
        1649682971,
        [1190, 243, 671, 996, 789, 1067, 61, 449, 310, 233, 1078, 1550, 69],
      ],
      [
        Uint8Array.from({ length: 256 }, (_, at) => at),
        185067,
        401627226,
        [2025, 504, 1617, 2031, 148, 487, 274, 1413, 857, 300, 653, 828, 1846],
      ],
      [
        'x'.repeat(1024),
        1181305,
        31651262,
        [588, 1886, 178, 381, 1952, 1725, 1102, 454, 850, 552, 1290, 750, 352],
      ],
    ],
  },
];

describe('Layout 1', () => {
  it('is the layout of every generation made today', () => {
    expect(BLOCKED_LAYOUT).toBe(1);
  });

  for (const { generation, ids } of goldens) {
    it.each(ids)(
      `of ${generation.blocks} blocks places id %# where it always did`,
      (id, block, seed, positions) => {
        const layout = new BlockedLayout(generation);
        expect(layout.locate(toIdKey(id))).toBe(true);
        expect(layout.block).toBe(block);
        expect(layout.seed >>> 0).toBe(seed);
        expect(layout.positions(layout.seed)).toEqual(positions);
      },
    );
  }

  it('gives a filter of 100,000 ids the bytes it always had', () => {
    const filter = new BlockedFilter(goldens[0]!.generation);
    for (let i = 0; i < 100_000; i++) filter.add(`product-${i}`);
    expect(createHash('sha256').update(filter.bytes).digest('hex')).toBe(
      '730952a25aeaa981c6ad3ba60cf3b1f3a760a07559668c78702d58af5d31873b',
    );
  });

  it('places any id as its description says', () => {
    const generation = fc.record({
      layout: fc.constant(1 as const),
      tag: fc.integer({ min: 1, max: 0xffffffff }),
      key: fc.tuple(fc.integer({ min: 0, max: 0xffffffff }), fc.integer({ min: 0, max: 0xffffffff })),
      blocks: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 2 ** 24 })),
      hashCount: fc.integer({ min: 1, max: 24 }),
      maxIdBytes: fc.constant(1024),
    });
    fc.assert(
      fc.property(generation, fc.uint8Array({ minLength: 1, maxLength: 40 }), (generation, id) => {
        const [first, last] = referenceHalfSipHash(id, generation.key, { compression: 1, finalization: 3 });
        let seed = BigInt(last);
        const positions = Array.from({ length: generation.hashCount }, () => {
          seed = BigInt.asUintN(32, seed * 0x93d765ddn + 0x9e3779b9n);
          return 32 + Number(((seed >> 12n) * 2016n) >> 20n);
        });
        const layout = new BlockedLayout(generation);
        layout.locate(id);
        expect(layout.block).toBe(Number((BigInt(first) * BigInt(generation.blocks)) >> 32n));
        expect(layout.positions(layout.seed)).toEqual(positions);
      }),
      { numRuns: 300 },
    );
  });

  it('sets the bits of the positions, least significant bit first, and none else', () => {
    const layout = new BlockedLayout(goldens[0]!.generation);
    layout.locate('a');
    const block = new Uint8Array(BLOCK_BYTES);
    layout.insert(block, 0, layout.seed);
    const set = Array.from({ length: BLOCK_BYTES * 8 }, (_, at) => at).filter(
      (at) => (block[at >>> 3]! >>> (at & 7)) & 1,
    );
    expect(set).toEqual(layout.positions(layout.seed).sort((a, b) => a - b));
  });

  it('needs every one of the positions', () => {
    const layout = new BlockedLayout(goldens[1]!.generation);
    layout.locate('a');
    const { seed } = layout;
    const block = new Uint8Array(BLOCK_BYTES);
    layout.insert(block, 0, seed);
    expect(layout.contains(block, 0, seed)).toBe(true);
    for (const position of layout.positions(seed)) {
      const damaged = block.slice();
      damaged[position >>> 3]! &= ~(1 << (position & 7));
      expect(layout.contains(damaged, 0, seed)).toBe(false);
    }
  });
});
