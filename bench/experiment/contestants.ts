import {
  BLOCK_BYTES,
  BlockedFilter,
  type BloomId,
  createGeneration,
  cuckoo,
  goZero,
  guava,
  type LayoutPlan,
  planFilter,
  planLayer,
  redisBloom,
  redisson,
  ScalableFilter,
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
    cuckooContestant(capacity, bitsPerId),
    {
      name: 'blocked, stacked',
      plan: stackedPlan(capacity, demand.errorRate),
      create: () => new ScalableFilter({ ...demand, capacity: Math.ceil(capacity / STACK_GROWTH) }),
    },
  ];
}

/** The stacked filter begins this much too small. */
const STACK_GROWTH = 8;

/** A filter that grows to half of what the others are made for, and its layers then. */
function stackedPlan(capacity: number, errorRate: number): LayoutPlan {
  const demand = { capacity: Math.ceil(capacity / STACK_GROWTH), errorRate };
  const plan = planFilter({ ...demand, layout: { kind: 'blocked', scaling: {} } });
  let bytes = 0;
  for (let index = 0, rest = capacity / 2; rest > 0; index++) {
    const layer = planLayer(demand, index);
    if (layer === undefined) break;
    bytes += layer.bytes;
    rest -= layer.capacity;
  }
  return { ...plan, bytes, bits: bytes * 8, bitsPerId: (bytes * 8) / capacity };
}

/** A power of two of buckets, so from half of the bits to all of them. */
function cuckooContestant(capacity: number, bitsPerId: number): Contestant {
  const slots = 2 ** Math.floor(Math.log2((capacity * bitsPerId) / 8));
  const layout = { kind: 'cuckoo', bucketSize: 2 } as const;
  const plan = planFilter({ capacity: 1, errorRate: 0.1, layout });
  return {
    name: 'cuckoo',
    plan: { ...plan, capacity, bits: slots * 8, bytes: slots, bitsPerId: (slots * 8) / capacity },
    create: () => {
      const filter = cuckoo.create({ capacity: slots });
      return {
        add: (id) => filter.addIfAbsent(id),
        mightContain: (id) => filter.mightContain(id),
      };
    },
  };
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
