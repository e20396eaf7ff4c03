import { describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import type { BloomId } from 'nestjs-bloom/filter';
import { cuckoo, goZero, guava, redisBloom, redisson } from '../../src/index.js';

const target = { capacity: 5_000, errorRate: 0.001 };
const product = (i: number) => `product-${i}-é`;

/**
 * Filters in Redis outlive the version that wrote them. The bytes of Guava's MITZ_64 were made by Guava 31.1
 * too, those of the cuckoo filter by RedisBloom 2.8.20 and 8.0.8; the others are what this library writes
 * whose positions are those of the peers. Never change them.
 */
const pins: [
  name: string,
  id: (i: number) => BloomId,
  create: () => { add(id: BloomId): unknown; write(): unknown },
  sha256: string,
][] = [
  [
    'go-zero',
    product,
    () => goZero.create({ bits: 100_003 }),
    'ce08e01313ee20245e94f0c26915989af9971ae9c59129bd12bcfe6a3ac5594e',
  ],
  [
    'Guava',
    product,
    () => guava.create({ ...target, funnel: 'stringFunnel' }),
    'de840bd3d5b08557043351b3f1c098f6a327e4cc89e5a2bf0275cc829fa308e0',
  ],
  [
    'Guava, MITZ_32 of UTF-16',
    product,
    () => guava.create({ ...target, funnel: 'unencodedCharsFunnel', strategy: 'MURMUR128_MITZ_32' }),
    '59c96d5e01859254d0ed21a665f9f602055e4f08804d0c073e3898f31c5a7565',
  ],
  [
    'Guava, longs',
    (i) => i - 2_500,
    () => guava.create({ ...target, funnel: 'longFunnel' }),
    'fc643c078b7fccf7d625099b6f4be2d5684c03209c62c03f6b1ca4aeccb28b92',
  ],
  [
    'Redisson, StringCodec',
    product,
    () => redisson.create({ ...target, codec: 'StringCodec' }),
    '279748fbb8277479fec062aab729b694abaef81f4fdd7cced5653d9760bf14a7',
  ],
  [
    'Redisson, Kryo5Codec',
    product,
    () => redisson.create({ ...target, codec: 'Kryo5Codec' }),
    '52ff8f45a8b4727175c6c458bfb23b35a01c2eab97513828774a9958123d461f',
  ],
  [
    'Redisson, JsonJacksonCodec',
    product,
    () => redisson.create({ ...target, codec: 'JsonJacksonCodec' }),
    '28e40af078e29de8b866887648ffddd85b352de74173127b4c190ef6ac363a04',
  ],
  [
    'RedisBloom, a chain',
    product,
    () => redisBloom.create({ ...target, capacity: 500 }),
    'fd9e0980b0e5f8b22b78874492c58e7ddc33a8922ae752d4839389b7daceda9a',
  ],
  [
    'cuckoo, several tables',
    product,
    () => cuckoo.create({ capacity: 500, bucketSize: 4, expansion: 2 }),
    '77d99fee75e5b2caa339fe89312e6d1a2591feb7e171855d28c4b875a6eadbcb',
  ],
];

describe('A filter of 5,000 ids', () => {
  it.each(pins)('has the bytes that it always had: %s', (_, id, create, sha256) => {
    const filter = create();
    for (let i = 0; i < 5_000; i++) filter.add(id(i));
    const hash = createHash('sha256');
    for (const part of partsOf(filter.write())) hash.update(part);
    expect(hash.digest('hex')).toBe(sha256);
  });
});

/** The bytes of whatever form a peer has. */
function partsOf(written: unknown): Uint8Array[] {
  if (written instanceof Uint8Array) return [written];
  if (Array.isArray(written)) return written.map(({ data }: { data: Uint8Array }) => data);
  return [(written as { value: Uint8Array }).value];
}
