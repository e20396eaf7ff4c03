import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { goZero, guava, type GuavaFunnel, redisson, type RedissonCodec } from '../../../src/index.js';
import { type IdKey, toIdKey } from 'nestjs-bloom/filter';
import type { BloomLayout } from 'nestjs-bloom/store';
import { fromHex, named, readVectors, toHex } from '../../formats/vectors.js';
import { expectFound } from '../../../../../test/support/never-absent.js';
import { RedisFixture } from '../../../../../test/support/redis-fixture.js';

let redis: RedisFixture;
let admin: Redis;

beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterAll(() => redis.close());

const openOn = async (key: string, layout: BloomLayout) =>
  (
    await redis.open(
      key,
      {},
      { layout, hasSource: false, plan: { capacity: 1000, errorRate: 0.01, maxIdBytes: 100_000 } },
    )
  ).filter;

/** The string without the bytes that are canaries, and those of the expected value in their place. */
async function withoutCanaries(key: string, expected: Uint8Array): Promise<string> {
  const value = (await admin.getBuffer(key))!;
  const canaries = (await admin.hget(`{${key}}:nestjs-bloom:meta`, 'canaries'))!.split(' ').map(Number);
  for (const at of canaries) {
    expect(value[at]).toBe(255);
    value[at] = expected[at] ?? 0;
  }
  return toHex(value);
}

const padded = (value: Uint8Array, bytes: number) =>
  Buffer.concat([value, Buffer.alloc(bytes - value.length)]);

describe('A string that go-zero has filled', () => {
  const { filters } = readVectors<{
    readonly filters: readonly {
      readonly bits: number;
      readonly added: readonly string[];
      readonly valueHex: string;
      readonly falsePositives: readonly string[];
      readonly absent: readonly string[];
    }[];
  }>('gozero');
  // The layout allows an empty id, filters of this library do not.
  const keyOf = (id: string) => named(id) as IdKey;
  const isId = (id: string) => keyOf(id).length > 0;

  it.each(filters)('of $bits bits is read as go-zero reads it', async (vector) => {
    const { bits, added, valueHex, falsePositives, absent } = vector;
    const key = redis.name();
    await admin.set(key, Buffer.from(valueHex, 'hex'));
    const filter = await openOn(key, goZero({ key, bits }));
    await expectFound([filter], [...added, ...falsePositives].filter(isId).map(keyOf));
    expect(await withoutCanaries(key, fromHex(valueHex))).toBe(
      toHex(padded(fromHex(valueHex), Math.ceil(bits / 8))),
    );
    // A canary may have set the last bit that an absent id lacked.
    const now = goZero.read((await admin.getBuffer(key))!, { bits });
    const asked = absent.filter(isId).map(keyOf);
    const expected = asked.map((id) => (now.mightContain(id) ? 'maybe' : 'absent'));
    expect(await filter.check(asked)).toEqual(expected);
    if (bits > 1000) expect(expected).toContain('absent');
  });

  it.each(filters)('of $bits bits is written as go-zero writes it', async ({ bits, added, valueHex }) => {
    const key = redis.name();
    await admin.setbit(key, goZero.layout({ bits }).positions(keyOf(added[1]!))[0]!, 1);
    const filter = await openOn(key, goZero({ key, bits }));
    const ids = added.filter(isId).map(keyOf);
    await filter.add(ids);
    const empty = goZero.create({ bits });
    for (const id of ids) empty.add(id);
    const expected = padded(empty.write(), Math.ceil(bits / 8));
    expect(await withoutCanaries(key, expected)).toBe(toHex(expected));
    // The vector has the empty id as well.
    empty.add('');
    expect(toHex(empty.write())).toBe(valueHex);
  });
});

describe('Keys that Redisson has filled', () => {
  type Codec = RedissonCodec;
  const { filters } = readVectors<{
    readonly filters: readonly {
      readonly name: string;
      readonly codec: Codec;
      readonly expectedInsertions: number;
      readonly configKey: string;
      readonly config: Readonly<Record<string, string>>;
      readonly added: readonly string[];
      readonly valueHex: string;
      readonly falsePositives: readonly string[];
      readonly absent: readonly string[];
      readonly batchIds: readonly string[];
      readonly batchAdd: number;
      readonly valueAfterBatchHex: string;
    }[];
  }>('redisson');
  const keyOf = (id: string) => toIdKey(named(id));
  const isId = (id: string) => id !== 'empty';
  const large = filters.filter(({ config }) => Number(config.size) >= 64);

  it.each(large)('for $codec and $expectedInsertions ids are read as Redisson reads them', async (vector) => {
    const { name, codec, configKey, config, added, valueHex, falsePositives, absent } = vector;
    await admin.del(name, configKey, `{${name}}:nestjs-bloom:meta`);
    await admin.hset(configKey, config);
    await admin.set(name, Buffer.from(valueHex, 'hex'));
    const filter = await openOn(name, redisson({ name, codec }));
    await expectFound([filter], [...added, ...falsePositives].filter(isId).map(keyOf));
    expect(await withoutCanaries(name, fromHex(valueHex))).toBe(
      toHex(padded(fromHex(valueHex), Math.ceil(Number(config.size) / 8))),
    );
    const now = redisson.read(
      { config: await admin.hgetall(configKey), value: (await admin.getBuffer(name))! },
      { codec },
    );
    for (const id of absent.filter(isId).map(keyOf)) {
      expect(await filter.check([id])).toEqual([now.mightContain(id) ? 'maybe' : 'absent']);
    }
  });

  it.each(large)(
    'for $codec and $expectedInsertions ids are written as Redisson writes them',
    async (vector) => {
      const { name, codec, configKey, config, valueHex, batchIds, batchAdd, valueAfterBatchHex } = vector;
      await admin.del(name, configKey, `{${name}}:nestjs-bloom:meta`);
      await admin.hset(configKey, config);
      await admin.set(name, Buffer.from(valueHex, 'hex'));
      const filter = await openOn(name, redisson({ name, codec }));
      const added = await filter.add(batchIds.map(keyOf));
      // Canaries may have set the bits of an id before.
      expect(added.filter(Boolean).length).toBeLessThanOrEqual(batchAdd);
      const expected = padded(fromHex(valueAfterBatchHex), Math.ceil(Number(config.size) / 8));
      expect(await withoutCanaries(name, expected)).toBe(toHex(expected));
    },
  );
});

describe('Bits that Guava sets', () => {
  it.each(
    readVectors<{
      readonly filters: readonly {
        readonly funnel: string;
        readonly strategy: 'MURMUR128_MITZ_64' | 'MURMUR128_MITZ_32';
        readonly bitSize: number;
        readonly writeToHex: string;
      }[];
    }>('guava').filters,
  )('are found and set in a dump of $bitSize bits, $funnel, $strategy', async (vector) => {
    const { strategy, writeToHex } = vector;
    const funnel = vector.funnel.replace('(UTF_8)', '') as GuavaFunnel;
    const key = redis.name();
    await admin.set(key, Buffer.from(writeToHex, 'hex'));
    const filter = await openOn(key, guava({ key, funnel, strategy }));
    const expected = guava.read(fromHex(writeToHex), { funnel });
    const ids = ['12345', '-7', '99'];
    await filter.add(ids);
    for (const id of ids) expected.add(id);
    expect(await withoutCanaries(key, expected.write())).toBe(toHex(expected.write()));
    expect(guava.read((await admin.getBuffer(key))!, { funnel }).mightContain('12345')).toBe(true);
  });
});
