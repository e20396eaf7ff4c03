import {
  BLOCK_BYTES,
  BlockedFilter,
  type BloomId,
  createGeneration,
  expectedErrorRate,
  planFilter,
} from '../../src/filter/index.js';
import {
  cuckoo,
  goZero,
  guava,
  type LayoutPlan,
  type LayoutPlanner,
  redisBloom,
  redisson,
} from '@nestjs-bloom/interop';
import { planLayer, ScalableFilter, scaling } from '@nestjs-bloom/interop/scaling';

/** A layout that takes part, in the size of so many bits an id. */
export interface Contestant {
  readonly name: string;
  readonly plan: Pick<LayoutPlan, 'bits' | 'bytes' | 'hashCount'>;
  expectedErrorRate(ids: number): number;
  create(): { add(id: BloomId): boolean; mightContain(id: BloomId): boolean };
}

/**
 * All layouts with as nearly the same number of bits as their rules allow. Those that are sized by an error
 * rate get the one for which the textbook needs that many, exp(-bits ln² 2).
 */
export function contestants(capacity: number, bitsPerId: number): Contestant[] {
  const target = { capacity, errorRate: Math.exp(-bitsPerId * Math.LN2 ** 2) };
  const strings = { ...target, funnel: 'stringFunnel' } as const;
  const blocked = blockedPlan(capacity, bitsPerId);
  const goZeroBits = Math.round(capacity * bitsPerId);
  return [
    { name: 'blocked', ...blocked, create: () => new BlockedFilter(createGeneration(blocked.sized)) },
    {
      name: 'go-zero',
      ...ofPlan(goZero, { ...goZero.plan(target), bits: goZeroBits, bytes: Math.ceil(goZeroBits / 8) }),
      create: () => goZero.create({ bits: goZeroBits }),
    },
    {
      name: 'Guava MITZ_64',
      ...ofPlan(guava, guava.plan(target)),
      create: () => guava.create(strings),
    },
    {
      name: 'Guava MITZ_32',
      ...ofPlan(guava, guava.plan(target)),
      create: () => guava.create({ ...strings, strategy: 'MURMUR128_MITZ_32' }),
    },
    {
      name: 'Redisson String',
      ...ofPlan(redisson, redisson.plan(target)),
      create: () => redisson.create({ ...target, codec: 'StringCodec' }),
    },
    {
      name: 'Redisson Kryo5',
      ...ofPlan(redisson, redisson.plan(target)),
      create: () => redisson.create({ ...target, codec: 'Kryo5Codec' }),
    },
    {
      name: 'RedisBloom fixed',
      ...ofPlan(redisBloom, redisBloom.plan({ ...target, nonScaling: true })),
      create: () => redisBloom.create({ ...target, nonScaling: true }),
    },
    {
      name: 'RedisBloom scaling',
      ...ofPlan(redisBloom, redisBloom.plan(target)),
      create: () => redisBloom.create(target),
    },
    cuckooContestant(capacity, bitsPerId),
    {
      name: 'blocked, stacked',
      ...ofPlan(scaling, stackedPlan(capacity, target.errorRate)),
      create: () => new ScalableFilter({ ...target, capacity: Math.ceil(capacity / STACK_GROWTH) }),
    },
  ];
}

function ofPlan(layout: LayoutPlanner, plan: LayoutPlan): Pick<Contestant, 'plan' | 'expectedErrorRate'> {
  return { plan, expectedErrorRate: (ids) => layout.expectedErrorRate(plan, ids) };
}

/** The stacked filter begins this much too small. */
const STACK_GROWTH = 8;

/** A filter that grows to half of what the others are made for, and its layers then. */
function stackedPlan(capacity: number, errorRate: number): LayoutPlan {
  const target = { capacity: Math.ceil(capacity / STACK_GROWTH), errorRate };
  const plan = scaling.plan(target);
  let bytes = 0;
  for (let index = 0, rest = capacity / 2; rest > 0; index++) {
    const layer = planLayer(target, index);
    if (layer === undefined) break;
    bytes += layer.bytes;
    rest -= layer.capacity;
  }
  return { ...plan, bytes, bits: bytes * 8 };
}

/** A power of two of buckets, so from half of the bits to all of them. */
function cuckooContestant(capacity: number, bitsPerId: number): Contestant {
  const slots = 2 ** Math.floor(Math.log2((capacity * bitsPerId) / 8));
  const plan = cuckoo.plan({ capacity: 1, errorRate: 0.1, bucketSize: 2 });
  return {
    name: 'cuckoo',
    ...ofPlan(cuckoo, { ...plan, capacity, bits: slots * 8, bytes: slots }),
    create: () => {
      const filter = cuckoo.create({ capacity: slots });
      return {
        add: (id) => filter.addIfAbsent(id),
        mightContain: (id) => filter.mightContain(id),
      };
    },
  };
}

/**
 * The blocked filter of so many bits an id with the hash count that its planning gives to filters of that
 * size.
 */
function blockedPlan(capacity: number, bitsPerId: number) {
  let [low, high] = [1e-6, 0.5];
  for (let step = 0; step < 50; step++) {
    const middle = Math.sqrt(low * high);
    if (planFilter({ capacity, errorRate: middle }).bitsPerId > bitsPerId) low = middle;
    else high = middle;
  }
  const sized = planFilter({ capacity, errorRate: high });
  return {
    sized,
    plan: { ...sized, bits: sized.blocks * BLOCK_BYTES * 8 },
    expectedErrorRate: (ids: number) => expectedErrorRate(sized, ids),
  };
}
