import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BloomFormatError } from 'nestjs-bloom/filter';
import { goZero, guava, redisson } from '../../src/index.js';
import { damaged, readsOrRefuses } from './damage.js';

const MANY = Array.from({ length: 30 }, (_, i) => `id-${i}`);

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

describe('The keys of Redisson', () => {
  const settings = { codec: 'StringCodec' } as const;
  const filter = redisson.create({ capacity: 30, errorRate: 0.01, ...settings });
  for (const id of MANY) filter.add(id);
  const { config, value } = filter.write();

  it.each([
    '',
    '0',
    '05',
    '+5',
    '-5',
    '5.0',
    ' 5',
    '5 ',
    '1e3',
    '0x10',
    '５',
    'NaN',
    '99999999999999999999',
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
  it('that is longer than the filter is refused', () => {
    expect(() => goZero.read(new Uint8Array(126), { bits: 1000 })).toThrow(BloomFormatError);
    expect(() => goZero.read(new Uint8Array(126), { bits: 1000 })).toThrow(
      /at most 125 bytes for a filter of 1000 bits, got 126/,
    );
  });

  it('with bits behind the last one is refused', () => {
    const bytes = new Uint8Array(120);
    bytes[119] = 0x02;
    expect(() => goZero.read(bytes, { bits: 958 })).toThrow(/Expected no bits behind bit 957, got some/);
    bytes[119] = 0x04;
    expect(goZero.read(bytes, { bits: 958 }).estimate().setBits).toBe(1);
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
