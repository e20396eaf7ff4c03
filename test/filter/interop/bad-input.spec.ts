import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  BloomFormatError,
  goZero,
  guava,
  redisBloom,
  type RedisBloomChunk,
  redisson,
  spring,
} from '../../../src/filter/index.js';

const MANY = Array.from({ length: 30 }, (_, i) => `id-${i}`);

/** What must hold of any input: read, or refused with a reason; at once, and without much memory. */
function readsOrRefuses(read: () => { mightContain(id: string): boolean }): void {
  const before = process.memoryUsage();
  try {
    read().mightContain('x');
  } catch (error) {
    expect(error).toBeInstanceOf(BloomFormatError);
    expect((error as Error).message).toMatch(/^Expected .*, got .*\. [A-Z]/s);
  }
  const after = process.memoryUsage();
  expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(2 ** 20);
}

/** Bytes with some of them changed, and perhaps cut short or made longer. */
function damaged(bytes: Uint8Array): fc.Arbitrary<Uint8Array> {
  const change = fc.tuple(
    fc.nat(Math.max(0, bytes.length - 1)),
    fc.oneof(fc.nat(255), fc.constantFrom(0, 0xff, 0x7f)),
  );
  return fc
    .tuple(fc.array(change, { maxLength: 6 }), fc.oneof(fc.constant(bytes.length), fc.nat(bytes.length + 20)))
    .map(([changes, length]) => {
      const copy = new Uint8Array(Math.max(length, bytes.length));
      copy.set(bytes);
      for (const [at, byte] of changes) copy[at] = byte;
      return copy.slice(0, length);
    });
}

describe('A dump of Guava', () => {
  const filter = guava.create({ capacity: 30, errorRate: 0.01, funnel: 'stringFunnel' });
  for (const id of MANY) filter.add(id);
  const dump = filter.write();
  const read = (bytes: Uint8Array) => guava.read(bytes, { funnel: 'stringFunnel' });

  it('that is cut short is refused, wherever it is cut', () => {
    for (let length = 0; length < dump.length; length++) {
      expect(() => read(dump.subarray(0, length))).toThrow(BloomFormatError);
    }
    expect(() => read(dump.subarray(0, -1))).toThrow(
      /Expected 46 bytes for the 5 words .* got 45: it was cut short/,
    );
  });

  it.each([
    ['an unknown strategy', [2, 5, 0, 0, 0, 1], /Expected strategy 0 or 1 of Guava, got 2/],
    ['a negative strategy', [0xff, 5, 0, 0, 0, 1], /got -1/],
    ['no hashes', [1, 0, 0, 0, 0, 1], /at least one hash/],
    ['no words', [1, 5, 0, 0, 0, 0], /at least one hash and one word .* got 5 and 0/],
    ['a negative number of words', [1, 5, 0xff, 0xff, 0xff, 0xff], /got 5 and -1/],
    ['16 GiB of words', [1, 5, 0x7f, 0xff, 0xff, 0xff], /Expected 17179869182 bytes .* got 14/],
  ])('with %s is refused', (_, header, message) => {
    const bytes = Uint8Array.of(...header, 0, 0, 0, 0, 0, 0, 0, 1);
    expect(() => read(bytes)).toThrow(BloomFormatError);
    expect(() => read(bytes)).toThrow(message);
  });

  it('with any damage is read or refused, without the memory that it claims', () => {
    fc.assert(
      fc.property(fc.oneof(damaged(dump), fc.uint8Array({ maxLength: 60 })), (bytes) =>
        readsOrRefuses(() => read(bytes)),
      ),
      { numRuns: 2_000 },
    );
  });

  it('may lie anywhere in a buffer', () => {
    const buffer = new Uint8Array(dump.length + 11);
    buffer.set(dump, 7);
    expect(read(buffer.subarray(7, 7 + dump.length)).write()).toEqual(dump);
  });
});

describe('A dump of RedisBloom', () => {
  const filter = redisBloom.create({ capacity: 5, errorRate: 0.05 });
  for (const id of MANY) filter.add(id);
  const chunks = filter.write();
  const header = chunks[0]!.data;
  const withHeader = (change: (view: DataView, bytes: Uint8Array) => void): RedisBloomChunk[] => {
    const bytes = header.slice();
    change(new DataView(bytes.buffer), bytes);
    return [{ iterator: 1, data: bytes }, ...chunks.slice(1)];
  };

  it('with a chunk left out is refused, whichever it is', () => {
    for (let left = 0; left < chunks.length; left++) {
      expect(() => redisBloom.read(chunks.filter((_, i) => i !== left))).toThrow(BloomFormatError);
    }
    expect(() => redisBloom.read([])).toThrow(/Expected a RedisBloom dump with a header, got no chunks/);
  });

  it('with a chunk cut short is refused, wherever it is cut', () => {
    chunks.forEach(({ iterator, data }, index) => {
      for (let length = 0; length < data.length; length++) {
        const cut = chunks.with(index, { iterator, data: data.subarray(0, length) });
        expect(() => redisBloom.read(cut)).toThrow(BloomFormatError);
      }
    });
  });

  it('in other pieces, overlapping or in another order, is the same', () => {
    const [head, ...data] = chunks;
    const pieces = data.flatMap(({ iterator, data: bytes }) => [
      { iterator, data: bytes.subarray(1) },
      { iterator: iterator - bytes.length + 3, data: bytes.subarray(0, 3) },
    ]);
    expect(redisBloom.read([head!, ...pieces.reverse()]).write()).toEqual(chunks);
  });

  it.each<[string, (view: DataView, bytes: Uint8Array) => void, RegExp]>([
    ['links for 200 GB', (view) => view.setUint32(8, 0xffffffff, true), /bytes for 4294967295 links/],
    ['an option that no command sets', (view) => view.setUint32(12, 7, true), /options 5 or 13, got 7/],
    ['the 32-bit hash', (view) => view.setUint32(12, 1, true), /options 5 or 13, got 1/],
    ['a size of 2^64', (view) => view.setBigUint64(20, 2n ** 64n - 1n, true), /numbers below 2\^53/],
    [
      'bits that are not 8 times the bytes',
      (view) => view.setBigUint64(28, 63n, true),
      /8 times its bytes, got 63 bits/,
    ],
    [
      'no bits',
      (view) => (view.setBigUint64(20, 0n, true), view.setBigUint64(28, 0n, true)),
      /got 0 bits, 0 bytes/,
    ],
    ['an error rate of 1', (view) => view.setFloat64(44, 1, true), /error rate above 0 and below 1, got 1/],
    ['an error rate that is no number', (view) => view.setFloat64(44, NaN, true), /got NaN/],
    ['a hash count that does not suit', (view) => view.setUint32(60, 99, true), /hashes that suit/],
    [
      'a million hashes',
      (view) => (view.setFloat64(52, 1e6 / Math.LN2, true), view.setUint32(60, 1_000_000, true)),
      /1 to 1100 hashes/,
    ],
    ['links for no ids', (view) => view.setBigUint64(64, 0n, true), /for at least one id, got 0/],
    ['a power of two that is not its size', (_, bytes) => (bytes[72] = 5), /a link of 2\^5 bits, got 64/],
    [
      'more ids than its links',
      (view) => view.setBigUint64(0, 31n, true),
      /as many ids as its links have, 30, got 31/,
    ],
  ])('with %s is refused', (_, change, message) => {
    expect(() => redisBloom.read(withHeader(change))).toThrow(BloomFormatError);
    expect(() => redisBloom.read(withHeader(change))).toThrow(message);
  });

  it('whose header claims 8 PB is refused for the bytes that are missing', () => {
    const claims = withHeader((view) => {
      view.setBigUint64(20, 2n ** 50n - 1n, true);
      view.setBigUint64(28, 8n * (2n ** 50n - 1n), true);
    });
    readsOrRefuses(() => redisBloom.read(claims));
    expect(() => redisBloom.read(claims)).toThrow(/Expected a RedisBloom dump with/);
  });

  it('with any damage is read or refused, without the memory that it claims', () => {
    const anyChunk = fc.record({
      iterator: fc.oneof(fc.integer({ min: -2, max: 300 }), fc.constantFrom(NaN, 1.5, Infinity, 2 ** 53)),
      data: fc.uint8Array({ maxLength: 100 }),
    });
    const some = fc.oneof(
      damaged(header).map((data) => chunks.with(0, { iterator: 1, data })),
      fc.array(fc.oneof(fc.constantFrom(...chunks), anyChunk), { maxLength: 8 }),
      fc.array(anyChunk, { maxLength: 4 }).map((more) => [...chunks, ...more]),
    );
    fc.assert(
      fc.property(some, (read) => readsOrRefuses(() => redisBloom.read(read))),
      { numRuns: 2_000 },
    );
  });

  it('that was damaged never denies its ids without being refused, unless its bits were damaged', () => {
    fc.assert(
      fc.property(damaged(header.subarray(0, 20)), (head) => {
        const data = Uint8Array.of(...head, ...header.subarray(20));
        let read;
        try {
          read = redisBloom.read(chunks.with(0, { iterator: 1, data }));
        } catch (error) {
          expect(error).toBeInstanceOf(BloomFormatError);
          return;
        }
        for (const id of MANY) expect(read.mightContain(id)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

describe('The keys of Redisson', () => {
  const settings = { codec: 'StringCodec' } as const;
  const filter = redisson.create({ capacity: 30, errorRate: 0.01, ...settings });
  for (const id of MANY) filter.add(id);
  const { config, value } = filter.write();

  it.each([
    ...['', '0', '05', '+5', '-5', '5.0', ' 5', '5 ', '1e3', '0x10', '５', 'NaN', '99999999999999999999'],
    undefined,
  ])('with %p in its config are refused', (text) => {
    for (const field of ['size', 'hashIterations', 'expectedInsertions'] as const) {
      const read = () => redisson.read({ config: { ...config, [field]: text }, value }, settings);
      expect(read).toThrow(BloomFormatError);
      expect(read).toThrow(`Expected ${field} of Redisson's config hash`);
    }
  });

  it.each(['', '-0.1', '1.1', 'abc', '.5', '5.', '1e-4', 'NaN', 'Infinity', undefined])(
    'with the probability %p are refused',
    (text) => {
      const read = () => redisson.read({ config: { ...config, falseProbability: text }, value }, settings);
      expect(read).toThrow(BloomFormatError);
    },
  );

  it.each([
    ['size', '4294967295'],
    ['hashIterations', '1101'],
    ['hashIterations', '2147483647'],
  ])('with a %s of %s, which Redisson never writes, are refused', (field, text) => {
    expect(() => redisson.read({ config: { ...config, [field]: text }, value }, settings)).toThrow(
      BloomFormatError,
    );
  });

  it('with a larger size than their string take no memory for it', () => {
    const large = { ...config, size: '4294967294' };
    readsOrRefuses(() => redisson.read({ config: large, value: new Uint8Array() }, settings));
  });

  it('with any fields are read or refused', () => {
    const text = fc.oneof(
      fc.string(),
      fc.bigInt().map(String),
      fc.double().map(String),
      fc.constant(undefined),
    );
    const fields = fc.record({
      size: text,
      hashIterations: text,
      expectedInsertions: text,
      falseProbability: text,
    });
    fc.assert(
      fc.property(fields, fc.uint8Array({ maxLength: 40 }), (config, value) =>
        readsOrRefuses(() => redisson.read({ config, value }, settings)),
      ),
      { numRuns: 500 },
    );
  });
});

describe('A Redis string', () => {
  const demand = { capacity: 100, errorRate: 0.01 };

  it('that is longer than the filter is refused', () => {
    expect(() => goZero.read(new Uint8Array(126), { bits: 1000 })).toThrow(BloomFormatError);
    expect(() => goZero.read(new Uint8Array(126), { bits: 1000 })).toThrow(
      /at most 125 bytes for a filter of 1000 bits, got 126/,
    );
    expect(() => spring.read(new Uint8Array(121), demand)).toThrow(BloomFormatError);
  });

  it('with bits behind the last one is refused', () => {
    const bytes = new Uint8Array(120);
    bytes[119] = 0x02;
    expect(() => spring.read(bytes, demand)).toThrow(/Expected no bits behind bit 957, got some/);
    bytes[119] = 0x04;
    expect(spring.read(bytes, demand).estimate().setBits).toBe(1);
  });

  it('that is shorter is filled up with zeros, which take no memory', () => {
    readsOrRefuses(() => goZero.read(Uint8Array.of(0x80), { bits: 2 ** 32 }));
    const filter = goZero.read(new Uint8Array(), { bits: 2 ** 23 });
    for (const id of MANY) filter.add(id);
    for (const id of MANY) expect(filter.mightContain(id)).toBe(true);
  });

  it('that was read is a copy', () => {
    const bytes = new Uint8Array(125);
    const filter = goZero.read(bytes, { bits: 1000 });
    bytes.fill(0xff);
    expect(filter.mightContain('x')).toBe(false);
    filter.write().fill(0xff);
    expect(filter.mightContain('x')).toBe(false);
  });
});
