import type { BloomId } from 'nestjs-bloom/filter';
import { type FilterEstimate, goZero, guava, redisBloom, redisson } from '../../src/index.js';

/** What all filters of peers have in common. */
export interface PeerFilter {
  add(id: BloomId): boolean;
  mightContain(id: BloomId): boolean;
  estimate(): FilterEstimate;
  write(): unknown;
}

/** A way to make filters of one peer, and to read what they write. */
export interface Peer {
  readonly name: string;
  readonly takes: 'text' | 'text or bytes' | 'longs' | 'integers';
  create(target: { capacity: number; errorRate: number }): PeerFilter;
  reread(filter: PeerFilter, target: { capacity: number; errorRate: number }): PeerFilter;
}

const guavas: Peer[] = (
  [
    ['stringFunnel', 'text or bytes'],
    ['unencodedCharsFunnel', 'text'],
    ['byteArrayFunnel', 'text or bytes'],
    ['longFunnel', 'longs'],
    ['integerFunnel', 'integers'],
  ] as const
).flatMap(([funnel, takes]) =>
  (['MURMUR128_MITZ_64', 'MURMUR128_MITZ_32'] as const).map((strategy) => ({
    name: `Guava ${funnel} ${strategy}`,
    takes,
    create: (target) => guava.create({ ...target, funnel, strategy }),
    reread: (filter) => guava.read(filter.write() as Uint8Array, { funnel }),
  })),
);

const redissons: Peer[] = (
  [
    [{ codec: 'StringCodec' }, 'text or bytes'],
    [{ codec: 'LongCodec', type: 'Long' }, 'text or bytes'],
    [{ codec: 'ByteArrayCodec' }, 'text or bytes'],
    [{ codec: 'Kryo5Codec' }, 'text'],
    [{ codec: 'Kryo5Codec', type: 'Long' }, 'longs'],
    [{ codec: 'Kryo5Codec', type: 'Integer' }, 'integers'],
    [{ codec: 'JsonJacksonCodec' }, 'text'],
    [{ codec: 'JsonJacksonCodec', type: 'Long' }, 'longs'],
    [{ codec: 'JsonJacksonCodec', type: 'Integer' }, 'integers'],
  ] as const
).map(([settings, takes]) => ({
  name: `Redisson ${Object.values(settings).join(' ')}`,
  takes,
  create: (target) => redisson.create({ ...target, ...settings }),
  reread: (filter) =>
    redisson.read(filter.write() as ReturnType<ReturnType<typeof redisson.create>['write']>, settings),
}));

export const PEERS: readonly Peer[] = [
  {
    name: 'go-zero',
    takes: 'text or bytes',
    create: ({ capacity }) => goZero.create({ bits: 20 * capacity }),
    reread: (filter, { capacity }) => goZero.read(filter.write() as Uint8Array, { bits: 20 * capacity }),
  },
  ...guavas,
  ...redissons,
  ...[{}, { nonScaling: true }, { expansion: 1 }, { expansion: 4 }].map((options): Peer => ({
    name: `RedisBloom ${Object.entries(options).flat().join(' ')}`,
    takes: 'text or bytes',
    create: (target) => redisBloom.create({ ...target, ...options }),
    reread: (filter) => redisBloom.read((filter as ReturnType<typeof redisBloom.create>).write()),
  })),
];
