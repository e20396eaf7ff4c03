import {
  BLOCK_BYTES,
  BlockedFilter,
  type BloomId,
  createGeneration,
  goZero,
  guava,
  type LayoutPlan,
  planFilter,
  redisBloom,
  redisson,
  spring,
} from '../../src/filter/index.js';

/** A layout that takes part, in the size of so many bits an id. */
export interface Contestant {
  readonly name: string;
  readonly plan: LayoutPlan;
  create(): { add(id: BloomId): boolean; mightContain(id: BloomId): boolean };
}

/**
 * All layouts with as nearly the same number of bits as their rules allow. Those that are sized by an error rate get the one for
 * which the textbook needs that many, exp(-bits ln² 2).
 */
export function contestants(capacity: number, bitsPerId: number): Contestant[] {
  const demand = { capacity, errorRate: Math.exp(-bitsPerId * Math.LN2 ** 2) };
  const strings = { ...demand, funnel: 'stringFunnel' } as const;
  const blocked = blockedPlan(capacity, bitsPerId);
  const goZeroBits = Math.round(capacity * bitsPerId);
  return [
    { name: 'blocked', plan: blocked.plan, create: () => new BlockedFilter(createGeneration(blocked)) },
    {
      name: 'go-zero',
      plan: {
        ...planFilter({ ...demand, layout: 'go-zero' }),
        bits: goZeroBits,
        bytes: Math.ceil(goZeroBits / 8),
        bitsPerId,
      },
      create: () => goZero.create({ bits: goZeroBits }),
    },
    {
      name: 'Guava MITZ_64',
      plan: planFilter({ ...demand, layout: 'guava' }),
      create: () => guava.create(strings),
    },
    {
      name: 'Guava MITZ_32',
      plan: planFilter({ ...demand, layout: 'guava' }),
      create: () => guava.create({ ...strings, strategy: 'MURMUR128_MITZ_32' }),
    },
    {
      name: 'Redisson String',
      plan: planFilter({ ...demand, layout: 'redisson' }),
      create: () => redisson.create({ ...demand, codec: 'StringCodec' }),
    },
    {
      name: 'Redisson Kryo5',
      plan: planFilter({ ...demand, layout: 'redisson' }),
      create: () => redisson.create({ ...demand, codec: 'Kryo5Codec' }),
    },
    {
      name: 'RedisBloom fixed',
      plan: planFilter({ ...demand, layout: { kind: 'redisbloom', nonScaling: true } }),
      create: () => redisBloom.create({ ...demand, nonScaling: true }),
    },
    {
      name: 'RedisBloom scaling',
      plan: planFilter({ ...demand, layout: 'redisbloom' }),
      create: () => redisBloom.create(demand),
    },
    {
      name: 'Spring helper',
      plan: planFilter({ ...demand, layout: 'spring' }),
      create: () => spring.create(demand),
    },
  ];
}

/** The blocked filter of so many bits an id with the hash count that its planning gives to filters of that size. */
function blockedPlan(capacity: number, bitsPerId: number) {
  let [low, high] = [1e-6, 0.5];
  for (let step = 0; step < 50; step++) {
    const middle = Math.sqrt(low * high);
    if (planFilter({ capacity, errorRate: middle }).bitsPerId > bitsPerId) low = middle;
    else high = middle;
  }
  const plan = planFilter({ capacity, errorRate: high });
  const { blocks: _, ...rest } = plan;
  return {
    ...plan,
    plan: { ...rest, layout: { kind: 'blocked' as const }, bits: plan.blocks * BLOCK_BYTES * 8 },
  };
}
