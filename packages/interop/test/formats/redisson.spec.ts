import { describe, expect, it } from '@jest/globals';
import { BloomConfigError } from 'nestjs-bloom/filter';
import { redisson, type RedissonConfig, type RedissonSettings } from '../../src/index.js';
import { HighwayHash } from '../../src/formats/hash/hashes.js';
import { ByteSink } from '../../src/formats/byte-sink.js';
import { bytesOf, fromHex, idOf, named, readVectors, rows, toHex, type VectorKey } from './vectors.js';

interface Hashed extends VectorKey {
  readonly hash128: readonly [string, string];
}
interface Single extends Hashed {
  readonly encodedHex: string;
  readonly indexes: Readonly<Record<string, readonly number[]>>;
}
interface Built {
  readonly name: string;
  readonly codec: 'StringCodec' | 'Kryo5Codec';
  readonly expectedInsertions: number;
  readonly falseProbability: number;
  readonly configKey: string;
  readonly config: RedissonConfig;
  readonly added: readonly string[];
  readonly notNew: readonly string[];
  readonly falsePositives: readonly string[];
  readonly absent: readonly string[];
  readonly valueHex: string;
  readonly count: number;
  readonly batchIds: readonly string[];
  readonly batchContains: number;
  readonly batchAdd: number;
  readonly valueAfterBatchHex: string;
  readonly countAfterBatch: number;
}

const vectors = readVectors<{
  readonly hashes: readonly Hashed[];
  readonly single: Readonly<Record<string, readonly Single[]>>;
  readonly sizing: readonly {
    readonly expectedInsertions: number;
    readonly falseProbability: number;
    readonly config?: RedissonConfig;
    readonly error?: string;
  }[];
  readonly keyNames: readonly {
    readonly name: string;
    readonly dataKey: string;
    readonly configKey: string;
  }[];
  readonly filters: readonly Built[];
}>('redisson');

/** `Kryo5Codec(default)/Long` as settings. */
function settingsOf(name: string): RedissonSettings {
  const [codec, type] = name.replace('(default)', '').split('/');
  return { codec, type: type === 'byte[]' ? 'String' : type } as RedissonSettings;
}

function hex(high: number, low: number): string {
  return (high >>> 0).toString(16).padStart(8, '0') + (low >>> 0).toString(16).padStart(8, '0');
}

function hashOf(encoded: Uint8Array): [first: string, second: string] {
  const sink = new ByteSink();
  sink.putBytes(encoded);
  sink.pad();
  const hash = new HighwayHash();
  hash.hash(sink);
  return [hex(hash.firstHigh, hash.firstLow), hex(hash.secondHigh, hash.secondLow)];
}

describe('The hash of Redisson', () => {
  it.each(rows(vectors.hashes))('is what Redisson printed, of $name', ({ key }) => {
    expect(hashOf(bytesOf(key.id!))).toEqual(key.hash128);
  });
});

describe.each(Object.entries(vectors.single))('Redisson with %s', (name, keys) => {
  const settings = settingsOf(name);
  const keyOf = (key: Single) => (name === 'ByteArrayCodec/byte[]' ? bytesOf(key.id!) : idOf(key));

  it.each(rows(keys))('encodes and hashes $name as Redisson does', ({ key }) => {
    const encoded = redisson.layout({ bits: 1, hashCount: 1, ...settings }).encode(keyOf(key));
    expect(toHex(encoded)).toBe(key.encodedHex);
    expect(hashOf(encoded)).toEqual(key.hash128);
  });

  it.each(rows(keys))('has the bits of $name where Redisson has', ({ key }) => {
    for (const [size, indexes] of Object.entries(key.indexes)) {
      const [, bits, hashCount] = /^size=(\d+),hashIterations=(\d+)$/.exec(size)!;
      const layout = redisson.layout({ bits: Number(bits), hashCount: Number(hashCount), ...settings });
      expect(layout.positions(keyOf(key))).toEqual(indexes);
    }
  });
});

describe('The settings of Redisson', () => {
  it.each(vectors.sizing.filter(({ config }) => config !== undefined))(
    'for $expectedInsertions ids at $falseProbability are those of tryInit',
    ({ expectedInsertions: capacity, falseProbability: errorRate, config }) => {
      const size = redisson.size({ capacity, errorRate });
      expect({ size: String(size.bits), hashIterations: String(size.hashCount) }).toEqual({
        size: config!.size,
        hashIterations: config!.hashIterations,
      });
      const read = redisson.read(
        { config: { ...config! }, value: new Uint8Array() },
        { codec: 'StringCodec' },
      );
      expect(read.layout).toMatchObject(size);
      expect(read.target).toEqual({ capacity, errorRate });
      expect(read.write()).toEqual({ config, value: new Uint8Array() });
    },
  );

  it.each(vectors.sizing.filter(({ error }) => error !== undefined))(
    'for $expectedInsertions ids at $falseProbability are refused',
    ({ expectedInsertions: capacity, falseProbability: errorRate }) => {
      expect(() => redisson.create({ capacity, errorRate, codec: 'Kryo5Codec' })).toThrow(BloomConfigError);
    },
  );

  it('are read in the plain decimals of releases before 3.30 too', () => {
    const config = {
      size: '729',
      hashIterations: '5',
      expectedInsertions: '100',
      falseProbability: '0.0001',
    };
    const filter = redisson.read({ config, value: new Uint8Array() }, { codec: 'StringCodec' });
    expect(filter.target).toEqual({ capacity: 100, errorRate: 1e-4 });
    expect(filter.write().config.falseProbability).toBe('1.0E-4');
  });

  it.each(vectors.keyNames)("are under the key $configKey of '$name'", ({ name, dataKey, configKey }) => {
    expect(redisson.keys(name)).toEqual({ bits: dataKey, config: configKey });
  });

  it('name a codec that there is', () => {
    const options = { bits: 100, hashCount: 3 };
    for (const settings of [{ codec: 'FooCodec' }, { codec: 'ByteArrayCodec', type: 'Long' }, {}]) {
      expect(() => redisson.layout({ ...options, ...(settings as RedissonSettings) })).toThrow(
        BloomConfigError,
      );
    }
  });
});

describe('A filter of Redisson', () => {
  it.each(vectors.filters)('is the one Redisson keeps: $name', (expected) => {
    const { codec, expectedInsertions: capacity, falseProbability: errorRate, config } = expected;
    expect(redisson.keys(expected.name).config).toBe(expected.configKey);
    const filter = redisson.create({ capacity, errorRate, codec });
    for (const id of expected.added) expect(filter.add(named(id))).toBe(!expected.notNew.includes(id));
    expect(filter.write()).toEqual({ config, value: fromHex(expected.valueHex) });
    const read = redisson.read({ config: { ...config }, value: fromHex(expected.valueHex) }, { codec });
    for (const id of [...expected.added, ...expected.falsePositives])
      expect(read.mightContain(named(id))).toBe(true);
    for (const id of expected.absent) expect(read.mightContain(named(id))).toBe(false);
    expect(read.estimate().ids).toBe(expected.count);
    const batch = expected.batchIds.map(named);
    expect(batch.filter((id) => read.mightContain(id))).toHaveLength(expected.batchContains);
    expect(batch.filter((id) => read.add(id))).toHaveLength(expected.batchAdd);
    expect(toHex(read.write().value)).toBe(expected.valueAfterBatchHex);
    expect(read.estimate().ids).toBe(expected.countAfterBatch);
  });

  it('that is empty has no ids', () => {
    expect(redisson.create({ capacity: 10, errorRate: 0.1, codec: 'Kryo5Codec' }).estimate()).toEqual({
      setBits: 0,
      ids: 0,
      errorRate: 0,
    });
  });
});

describe('What the codecs make of other ids', () => {
  const encoded = (settings: RedissonSettings, id: string | number | bigint) =>
    toHex(redisson.layout({ bits: 1, hashCount: 1, ...settings }).encode(id));

  it('is one for a number, a bigint and decimal text', () => {
    for (const settings of [
      { codec: 'StringCodec' },
      { codec: 'Kryo5Codec', type: 'Long' },
      { codec: 'Kryo5Codec', type: 'Integer' },
      { codec: 'JsonJacksonCodec', type: 'Long' },
    ] as const) {
      expect(encoded(settings, 5)).toBe(encoded(settings, 5n));
      expect(encoded(settings, '5')).toBe(encoded(settings, 5n));
    }
  });

  it('has the head that Kryo gives to long text', () => {
    const head = (units: number) => encoded({ codec: 'Kryo5Codec' }, 'x'.repeat(units)).slice(2, -2 * units);
    expect([33, 62, 63, 8190, 8191].map(head)).toEqual(['a2', 'bf', 'c001', 'ff7f', 'c08001']);
  });

  it('is CESU-8 in Kryo, also of two units and of the last ASCII character', () => {
    expect(encoded({ codec: 'Kryo5Codec' }, '\ud83d\ude00')).toBe('0383eda0bdedb880');
    expect(encoded({ codec: 'Kryo5Codec' }, 'a\u0080')).toBe('038361c280');
    expect(encoded({ codec: 'Kryo5Codec' }, 'a\u007f')).toBe('0361ff');
  });

  it('escapes as Jackson does', () => {
    const text = '"\\/\b\t\n\f\r\u0000\u001f\u007f\u2028é\ud83d\ude00\udc00';
    expect(Buffer.from(encoded({ codec: 'JsonJacksonCodec' }, text), 'hex').toString()).toBe(
      '"\\"\\\\/\\b\\t\\n\\f\\r\\u0000\\u001F\u007f\u2028é\\uD83D\\uDE00\\uDC00"',
    );
  });

  it('has 9 bytes at most of a Long and 5 of an Integer', () => {
    const long = { codec: 'Kryo5Codec', type: 'Long' } as const;
    expect(encoded(long, 63)).toBe('097e');
    expect(encoded(long, 64)).toBe('098001');
    expect(encoded(long, -(2n ** 55n))).toBe('09ffffffffffffff7f');
    expect(encoded(long, 2n ** 55n)).toBe('09808080808080808001');
    expect(encoded(long, -(2n ** 63n))).toBe('09ffffffffffffffffff');
    expect(encoded({ codec: 'Kryo5Codec', type: 'Integer' }, -2_147_483_648)).toBe('02ffffffff0f');
  });
});
