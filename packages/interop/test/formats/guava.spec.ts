import { describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { BloomConfigError } from 'nestjs-bloom/filter';
import { guava, type GuavaFunnel, type GuavaStrategy } from '../../src/index.js';
import { Murmur3 } from '../../src/formats/hash/hashes.js';
import { ByteSink } from '../../src/formats/byte-sink.js';
import { optimalBits } from '../../src/formats/java.js';
import { bytesOf, fromHex, idOf, named, readVectors, rows, toHex, type VectorKey } from './vectors.js';

interface Hashed extends VectorKey {
  readonly murmur3_128Hex: string;
}
interface Single extends Hashed {
  readonly MURMUR128_MITZ_64: Readonly<Record<string, readonly number[]>>;
  readonly MURMUR128_MITZ_32?: Readonly<Record<string, readonly number[]>>;
}
interface Estimates {
  readonly approximateElementCount: number;
  readonly expectedFpp: number;
}
interface Built extends Partial<Estimates> {
  readonly funnel: string;
  readonly strategy: GuavaStrategy;
  readonly expectedInsertions: number;
  readonly fpp: number;
  readonly bitSize: number;
  readonly numHashFunctions: number;
  readonly added: readonly string[];
  readonly notNew: readonly string[];
  readonly falsePositives: readonly string[];
  readonly absent: readonly string[];
  readonly writeToHex: string;
}
interface Large extends Estimates {
  readonly expectedInsertions: number;
  readonly fpp: number;
  readonly inserted: string;
  readonly writeToSha256: string;
  readonly 'falsePositivesAmong absent-0..199999': number;
  readonly firstFalsePositives: readonly string[];
}
interface Sizing {
  readonly expectedInsertions: number;
  readonly fpp: number;
  readonly optimalNumOfBits: number;
  readonly bitSize?: number;
  /** Guava 31.1 and 32.0.1. */
  readonly numHashFunctions: number;
  readonly numHashFunctionsOf33: number;
  readonly error?: string;
}

const vectors = readVectors<{
  readonly hashes: readonly Hashed[];
  readonly single: Readonly<Record<string, readonly Single[]>>;
  readonly filters: readonly Built[];
  readonly large: readonly Large[];
  readonly readFrom: readonly {
    readonly case: string;
    readonly hex: string;
    readonly bitSize: number;
    readonly numHashFunctions: number;
    readonly rewritten: string;
  }[];
  readonly sizing: readonly Sizing[];
  readonly createErrors: readonly { readonly expectedInsertions: number; readonly fpp: number }[];
  readonly putAll: readonly (Estimates & {
    readonly a: string;
    readonly b: string;
    readonly aPutAllB: string;
  })[];
}>('guava');

const strategies = ['MURMUR128_MITZ_64', 'MURMUR128_MITZ_32'] as const;

function funnelOf(name: string): GuavaFunnel {
  return name.replace('(UTF_8)', '') as GuavaFunnel;
}

function geometryOf(name: string): { bits: number; hashCount: number } {
  const [, bits, hashCount] = /^bitSize=(\d+),k=(\d+)$/.exec(name)!;
  return { bits: Number(bits), hashCount: Number(hashCount) };
}

function hashOf(encoded: Uint8Array): string {
  const sink = new ByteSink();
  sink.putBytes(encoded);
  sink.pad();
  const hash = new Murmur3();
  hash.hash(sink);
  const bytes = Buffer.alloc(16);
  [hash.h1Low, hash.h1High, hash.h2Low, hash.h2High].forEach((word, i) => bytes.writeInt32LE(word, i * 4));
  return bytes.toString('hex');
}

describe('The hash of Guava', () => {
  it.each(rows(vectors.hashes))('is what Guava printed, of $name', ({ key }) => {
    expect(hashOf(bytesOf(key.id!))).toBe(key.murmur3_128Hex);
  });
});

describe.each(Object.entries(vectors.single))('Guava with %s', (name, keys) => {
  it.each(rows(keys))('has the bits of $name where Guava has', ({ key }) => {
    const funnel = funnelOf(name);
    for (const strategy of strategies) {
      for (const [size, indexes] of Object.entries(key[strategy] ?? {})) {
        const positions = guava.layout({ ...geometryOf(size), funnel, strategy }).positions(idOf(key));
        const unlessRepeated = positions.map((at, i) =>
          positions.indexOf(at) < i && indexes[i] === null ? null : at,
        );
        expect(unlessRepeated).toEqual(indexes);
      }
    }
  });

  it.each(rows(keys))('hashes $name as Guava does', ({ key }) => {
    const layout = guava.layout({ bits: 64, hashCount: 1, funnel: funnelOf(name) });
    expect(hashOf(layout.encode(idOf(key)))).toBe(key.murmur3_128Hex);
  });
});

describe('A filter of Guava', () => {
  it.each(vectors.filters)('is written as Guava writes it: $funnel, $strategy, $bitSize bits', (expected) => {
    const { strategy, bitSize: bits, numHashFunctions: hashCount } = expected;
    const funnel = funnelOf(expected.funnel);
    const size = { capacity: expected.expectedInsertions, errorRate: expected.fpp };
    expect(guava.size(size)).toEqual({ bits, hashCount });
    const filter = guava.create({ ...size, funnel, strategy });
    const keyOf = (name: string) => (funnel === 'longFunnel' ? BigInt(name) : named(name));
    for (const id of expected.added) expect(filter.add(keyOf(id))).toBe(!expected.notNew.includes(id));
    expect(toHex(filter.write())).toBe(expected.writeToHex);
    const read = guava.read(fromHex(expected.writeToHex), { funnel });
    expect(read.layout).toMatchObject({ strategy, bits, hashCount, funnel });
    for (const one of [filter, read]) {
      for (const id of [...expected.added, ...expected.falsePositives])
        expect(one.mightContain(keyOf(id))).toBe(true);
      for (const id of expected.absent) expect(one.mightContain(keyOf(id))).toBe(false);
    }
    // Not printed for all of them.
    const { approximateElementCount = read.estimate().ids, expectedFpp = read.estimate().errorRate } =
      expected;
    expect(read.estimate().ids).toBe(approximateElementCount);
    expect(read.estimate().errorRate).toBeCloseTo(expectedFpp, 14);
    expect(toHex(read.write())).toBe(expected.writeToHex);
  });

  it.each(vectors.large)(
    'of $expectedInsertions ids is Guava’s to the last byte, false positives too',
    (expected) => {
      const filter = guava.create({
        capacity: expected.expectedInsertions,
        errorRate: expected.fpp,
        funnel: 'stringFunnel',
      });
      const last = Number(/\d+$/.exec(expected.inserted)![0]);
      for (let i = 0; i <= last; i++) filter.add(`pub-${i}`);
      expect(createHash('sha256').update(filter.write()).digest('hex')).toBe(expected.writeToSha256);
      expect(filter.estimate().ids).toBe(expected.approximateElementCount);
      expect(filter.estimate().errorRate / expected.expectedFpp).toBeCloseTo(1, 10);
      const falsePositives: string[] = [];
      for (let i = 0; i < 200_000; i++)
        if (filter.mightContain(`absent-${i}`)) falsePositives.push(`absent-${i}`);
      expect(falsePositives).toHaveLength(expected['falsePositivesAmong absent-0..199999']);
      expect(falsePositives.slice(0, expected.firstFalsePositives.length)).toEqual(
        expected.firstFalsePositives,
      );
    },
  );

  it.each(vectors.putAll)('takes in another one as putAll does', (expected) => {
    const filter = guava.read(fromHex(expected.a), { funnel: 'stringFunnel' });
    filter.merge(guava.read(fromHex(expected.b), { funnel: 'stringFunnel' }));
    expect(toHex(filter.write())).toBe(expected.aPutAllB);
    expect(filter.estimate().ids).toBe(expected.approximateElementCount);
    expect(filter.estimate().errorRate).toBeCloseTo(expected.expectedFpp, 14);
  });

  it('does not take in one of another funnel', () => {
    const options = { capacity: 100, errorRate: 0.01 };
    const filter = guava.create({ ...options, funnel: 'stringFunnel' });
    expect(() => filter.merge(guava.create({ ...options, funnel: 'longFunnel' }))).toThrow(BloomConfigError);
  });

  it('takes a funnel of one’s own: the pieces one after another', () => {
    const layout = guava.layout({
      bits: 640,
      hashCount: 3,
      funnel: (id, sink) => {
        sink.putInt(7);
        sink.putString(String(id));
        sink.putLong(-1, -2);
        sink.putByte(0x1ff);
      },
    });
    expect(toHex(layout.encode('é'))).toBe('07000000c3a9feffffffffffffffff');
  });
});

describe('What readFrom reads', () => {
  it.each(vectors.readFrom)('is read: $case', (expected) => {
    const filter = guava.read(fromHex(expected.hex), { funnel: 'stringFunnel' });
    expect(filter.layout).toMatchObject({ bits: expected.bitSize, hashCount: expected.numHashFunctions });
    expect(toHex(filter.write())).toBe(expected.rewritten);
  });
});

describe.each([
  ['31.1 and 32.0.1', 'bits'],
  ['33.7.1', 'error-rate'],
] as const)('The size that Guava %s chooses', (_, hashCountFrom) => {
  const cases = vectors.sizing.map((size) => ({
    ...size,
    numHashFunctions: hashCountFrom === 'bits' ? size.numHashFunctions : size.numHashFunctionsOf33,
  }));

  it.each(cases.filter(({ bitSize }) => bitSize !== undefined))(
    'for $expectedInsertions ids at $fpp is $bitSize bits, $numHashFunctions hashes',
    ({ expectedInsertions, fpp, optimalNumOfBits, bitSize, numHashFunctions }) => {
      expect(optimalBits(Math.max(1, expectedInsertions), fpp)).toBe(optimalNumOfBits);
      expect(guava.size({ capacity: expectedInsertions, errorRate: fpp, hashCountFrom })).toEqual({
        bits: bitSize,
        hashCount: numHashFunctions,
      });
    },
  );

  it('may be beyond 2^32 bits', () => {
    const { optimalNumOfBits, numHashFunctions } = cases.find(
      ({ optimalNumOfBits: bits }) => bits > 2 ** 32,
    )!;
    const size = guava.size({ capacity: 500_000_000, errorRate: 0.001, hashCountFrom });
    expect(size).toEqual({ bits: Math.ceil(optimalNumOfBits / 64) * 64, hashCount: numHashFunctions });
    const positions = guava.layout({ ...size, funnel: 'stringFunnel' }).positions('a');
    expect(Math.max(...positions)).toBeGreaterThan(2 ** 32);
  });

  it.each([...vectors.createErrors, ...cases.filter(({ error }) => error !== undefined)])(
    'is none for $expectedInsertions ids at $fpp',
    ({ expectedInsertions, fpp }) => {
      expect(() => guava.size({ capacity: expectedInsertions, errorRate: fpp, hashCountFrom })).toThrow(
        BloomConfigError,
      );
    },
  );
});
