import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BloomFullError, type BloomId, BloomIdError } from 'nestjs-bloom/filter';
import { type Peer, type PeerFilter, PEERS } from './peers.js';
import { leastCpuMsOf } from '../../../../test/support/cpu-time.js';

const anyText = fc.oneof(
  fc.string({ maxLength: 80 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)), maxLength: 20 }),
  fc.integer({ min: 0, max: 5000 }).map((length) => 'long'.repeat(length)),
);
const ids: Record<Peer['takes'], fc.Arbitrary<BloomId>> = {
  text: fc.oneof(anyText, fc.maxSafeInteger(), fc.bigInt()),
  'text or bytes': fc.oneof(anyText, fc.uint8Array({ maxLength: 100 }), fc.maxSafeInteger(), fc.bigInt()),
  longs: fc.oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
    fc.maxSafeInteger(),
  ),
  integers: fc.oneof(fc.integer(), fc.integer().map(String), fc.integer().map(BigInt)),
};
const demands = fc.record({
  capacity: fc.integer({ min: 1, max: 300 }),
  errorRate: fc.double({ min: 1e-9, max: 0.3, noNaN: true }),
});

/** Adds what fits; what was added. */
function fill(filter: PeerFilter, some: readonly BloomId[]): BloomId[] {
  return some.filter((id) => {
    const wasThere = filter.mightContain(id);
    try {
      expect(filter.add(id)).toBe(!wasThere);
      expect(filter.add(id)).toBe(false);
      return true;
    } catch (error) {
      expect(error).toBeInstanceOf(BloomFullError);
      return false;
    }
  });
}

describe.each(PEERS)('A filter in the layout of $name', (peer) => {
  const many = fc.array(ids[peer.takes], { maxLength: 60 });

  it('never denies an id that was added, nor does what is read from its dump, which gives the dump again', () => {
    fc.assert(
      fc.property(demands, many, (target, some) => {
        const filter = peer.create(target);
        const added = fill(filter, some);
        const read = peer.reread(filter, target);
        for (const id of added) {
          expect(filter.mightContain(id)).toBe(true);
          expect(read.mightContain(id)).toBe(true);
        }
        expect(read.write()).toEqual(filter.write());
        expect(read.estimate()).toEqual(filter.estimate());
      }),
      { numRuns: 40 },
    );
  });

  it('that was read takes further ids', () => {
    fc.assert(
      fc.property(demands, many, many, (target, before, after) => {
        const filter = peer.create(target);
        const added = fill(filter, before);
        const read = peer.reread(filter, target);
        added.push(...fill(read, after));
        for (const id of added) expect(read.mightContain(id)).toBe(true);
        fill(filter, after);
        expect(read.write()).toEqual(filter.write());
      }),
      { numRuns: 15 },
    );
  });

  it('contains nothing at first', () => {
    fc.assert(
      fc.property(demands, ids[peer.takes], (target, id) => {
        expect(peer.create(target).mightContain(id)).toBe(false);
      }),
      { numRuns: 30 },
    );
  });

  it('takes a number, a bigint and their decimal text for one id', () => {
    const filter = peer.create({ capacity: 100, errorRate: 1e-6 });
    for (const number of [0, 7, -12, 2_000_000_000]) {
      expect(filter.add(number)).toBe(true);
      expect(filter.add(BigInt(number))).toBe(false);
      expect(filter.add(String(number))).toBe(false);
    }
  });

  it('refuses what is no id', () => {
    const filter = peer.create({ capacity: 100, errorRate: 0.01 });
    for (const value of [undefined, null, {}, [], 1.5, NaN, 2 ** 53, true, Symbol.iterator]) {
      expect(() => filter.add(value as BloomId)).toThrow(BloomIdError);
      expect(() => filter.mightContain(value as BloomId)).toThrow(BloomIdError);
    }
  });
});

describe.each(PEERS.filter(({ takes }) => takes.startsWith('text')))(
  'A filter in the layout of $name',
  (peer) => {
    it('holds the empty text', () => {
      const filter = peer.create({ capacity: 100, errorRate: 0.01 });
      expect(filter.add('')).toBe(true);
      expect(filter.mightContain('')).toBe(true);
    });

    it('refuses a bigint too long for its decimal text, at once', async () => {
      const filter = peer.create({ capacity: 100, errorRate: 0.01 });
      const long = 1n << (2n ** 22n);
      const writingMs = await leastCpuMsOf(() => String(long), 1);
      const refusingMs = await leastCpuMsOf(() =>
        expect(() => filter.mightContain(long)).toThrow(BloomIdError),
      );
      expect(refusingMs).toBeLessThan(writingMs / 3);
    });
  },
);

describe.each(PEERS.filter(({ takes }) => takes === 'text'))('A filter in the layout of $name', (peer) => {
  it('refuses bytes: it is characters that are hashed', () => {
    expect(() => peer.create({ capacity: 9, errorRate: 0.1 }).add(Uint8Array.of(97))).toThrow(
      /Expected text/,
    );
  });
});

describe.each(PEERS.filter(({ takes }) => takes === 'longs' || takes === 'integers'))(
  'A filter in the layout of $name',
  (peer) => {
    const beyond = peer.takes === 'longs' ? 2n ** 63n : 2n ** 31n;

    it.each([
      beyond,
      -beyond - 1n,
      2n ** 64n,
      `${beyond}`,
      '',
      '05',
      '+5',
      '-0',
      '1.0',
      '1e3',
      ' 1',
      'x',
      '９',
    ])('refuses %p', (id) => {
      const filter = peer.create({ capacity: 9, errorRate: 0.1 });
      expect(() => filter.add(id)).toThrow(BloomIdError);
      expect(() => filter.add(id)).toThrow(/Expected a (64|32)-bit integer/);
    });

    it('holds the least and the greatest', () => {
      const filter = peer.create({ capacity: 100, errorRate: 1e-6 });
      for (const id of [beyond - 1n, -beyond]) {
        expect(filter.add(id)).toBe(true);
        expect(filter.add(String(id))).toBe(false);
      }
    });

    it('refuses bytes', () => {
      expect(() => peer.create({ capacity: 9, errorRate: 0.1 }).add(Uint8Array.of(1))).toThrow(BloomIdError);
    });
  },
);
