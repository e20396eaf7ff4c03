import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BloomIdError } from '../../src/common/index.js';
import {
  BLOCK_BYTES,
  BlockedFilter,
  type BloomId,
  createGeneration,
  type FilterPlan,
  planFilter,
} from '../../src/filter/index.js';
import { leastCpuMsOf } from '../support/cpu-time.js';

const anyId: fc.Arbitrary<BloomId> = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }),
  fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)), minLength: 1, maxLength: 20 }),
  fc.maxSafeInteger(),
  fc.bigInt({ min: -(2n ** 200n), max: 2n ** 200n }),
  fc.uint8Array({ minLength: 1, maxLength: 300 }),
);

const plans = [
  planFilter({ capacity: 1_000, errorRate: 1e-3 }),
  planFilter({ capacity: 1, errorRate: 1e-6 }),
  planFilter({ capacity: 20, errorRate: 0.5 }),
  planFilter({ capacity: 300, errorRate: 1e-2 }),
] as const;

function newFilter({ plan = plans[0] as FilterPlan, maxIdBytes = 1024 } = {}): BlockedFilter {
  return new BlockedFilter(createGeneration(plan, maxIdBytes));
}

describe('A blocked filter', () => {
  it('never denies an id that was added, also far beyond its capacity', () => {
    fc.assert(
      fc.property(fc.constantFrom(...plans), fc.array(anyId, { maxLength: 200 }), (plan, ids) => {
        const filter = newFilter({ plan });
        for (const id of ids) filter.add(id);
        for (const id of ids) expect(filter.mightContain(id)).toBe(true);
      }),
    );
  });

  it('contains nothing at first', () => {
    const filter = newFilter();
    fc.assert(fc.property(anyId, (id) => expect(filter.mightContain(id)).toBe(false)));
  });

  it('has the tag of its generation in each block, or leaves that to whoever fills it', () => {
    const generation = createGeneration(plans[3]!, 1024);
    const tags = ({ bytes }: BlockedFilter) =>
      Array.from({ length: generation.blocks }, (_, i) =>
        new DataView(bytes.buffer).getUint32(i * BLOCK_BYTES, true),
      );
    expect(generation.blocks).toBeGreaterThan(1);
    expect(new Set(tags(new BlockedFilter(generation)))).toEqual(new Set([generation.tag >>> 0]));
    expect(new BlockedFilter(generation, false).bytes.every((byte) => byte === 0)).toBe(true);
  });

  it('tells on adding whether the id could have been there before', () => {
    fc.assert(
      fc.property(fc.array(anyId, { maxLength: 100 }), (ids) => {
        const filter = newFilter();
        for (const id of ids) {
          const wasThere = filter.mightContain(id);
          expect(filter.add(id)).toBe(!wasThere);
          expect(filter.add(id)).toBe(false);
        }
      }),
    );
  });

  it('takes 1, 1n and "1" for one id', () => {
    const forms: BloomId[] = [1, 1n, '1', new TextEncoder().encode('1')];
    for (const added of forms) {
      const filter = newFilter();
      expect(filter.add(added)).toBe(true);
      for (const other of forms) expect(filter.add(other)).toBe(false);
    }
  });

  it('tells ids apart that look alike', () => {
    const filter = newFilter({ plan: plans[1] });
    filter.add('1');
    for (const other of ['01', ' 1', '1 ', '+1', '1.0', '１', '1\0', '-1', Uint8Array.of(1)]) {
      expect(filter.mightContain(other)).toBe(false);
    }
  });

  it('keeps the tag at the head of every block, whatever is added', () => {
    const filter = newFilter();
    for (let id = 0; id < 5_000; id++) filter.add(id);
    const blocks = new DataView(filter.bytes.buffer);
    for (let at = 0; at < filter.bytes.length; at += BLOCK_BYTES) {
      expect(blocks.getUint32(at, true)).toBe(filter.generation.tag);
    }
  });

  it('refuses what is no id, with a reason', () => {
    const filter = newFilter();
    expect(() => filter.add('')).toThrow(BloomIdError);
    expect(() => filter.mightContain(undefined as unknown as BloomId)).toThrow(
      /Expected an id .* got undefined/,
    );
  });
});

describe('A lone surrogate in an id', () => {
  it('is found again', () => {
    const filter = newFilter();
    for (const id of ['\ud800', 'a\udc00b', '\udfff\ud800']) {
      filter.add(id);
      expect(filter.mightContain(id)).toBe(true);
    }
  });

  it('is the replacement character, as in UTF-8', () => {
    const filter = newFilter();
    filter.add('sku-\ud800');
    expect(filter.add('sku-\ufffd')).toBe(false);
    expect(filter.mightContain(new TextEncoder().encode('sku-\ufffd'))).toBe(true);
  });
});

describe('An id longer than maxIdBytes', () => {
  // Ids of exactly 60 bytes, and the same with a byte or a character more.
  const longest: [name: string, allowed: BloomId, tooLong: BloomId][] = [
    ['ASCII text', 'x'.repeat(60), 'x'.repeat(61)],
    ['two-byte text', 'é'.repeat(30), `${'é'.repeat(30)}x`],
    ['three-byte text', '商'.repeat(20), `${'商'.repeat(20)}x`],
    ['four-byte text', '😀'.repeat(15), `${'😀'.repeat(15)}x`],
    ['lone surrogates', '\ud800'.repeat(20), `${'\ud800'.repeat(20)}x`],
    ['bytes', new Uint8Array(60), new Uint8Array(61)],
    ['a bigint', 10n ** 59n, 10n ** 60n],
  ];

  it.each(longest)('is refused on adding: %s', (_, allowed, tooLong) => {
    const filter = newFilter({ maxIdBytes: 60 });
    expect(filter.add(allowed)).toBe(true);
    expect(() => filter.add(tooLong)).toThrow(BloomIdError);
    expect(() => filter.add(tooLong)).toThrow(
      'Expected an id of at most 60 bytes, got a longer one. Raise maxIdBytes',
    );
  });

  it.each(longest)('is absent, even when every bit is set: %s', (_, allowed, tooLong) => {
    const filter = newFilter({ maxIdBytes: 60 });
    filter.bytes.fill(0xff);
    expect(filter.mightContain(allowed)).toBe(true);
    expect(filter.mightContain(tooLong)).toBe(false);
  });

  it('is not hashed: an endless one costs nothing', async () => {
    const filter = newFilter();
    const endless: BloomId[] = ['x'.repeat(2 ** 28), new Uint8Array(2 ** 28), 1n << (2n ** 22n)];
    const writingMs = await leastCpuMsOf(() => String(endless[2]), 1);
    const askingMs = await leastCpuMsOf(() => {
      for (const id of endless) expect(filter.mightContain(id)).toBe(false);
    });
    expect(askingMs).toBeLessThan(writingMs / 3);
  });
});
