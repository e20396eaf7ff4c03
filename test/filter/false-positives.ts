import {
  BlockedFilter,
  type BloomId,
  createGeneration,
  modelledErrorRate,
  planFilter,
} from '../../src/filter/index.js';
import { Random } from '../support/random.js';

/** Ids numbered from 0, all of them different. */
type Pattern = (random: Random) => (index: number) => BloomId;

const counter = new Uint8Array(8);
const counterView = new DataView(counter.buffer);
const randomId = new Uint8Array(8);

/** Patterns without an end. */
const endless = {
  'random bytes': (random) => () => {
    random.fill(randomId);
    return randomId;
  },
  'sequential numbers': () => (index) => index,
  'multiples of 2^8': () => (index) => index * 2 ** 8,
  'multiples of 2^16': () => (index) => index * 2 ** 16,
  'multiples of 2^32': () => (index) => index * 2 ** 32,
  'multiples of 2^64': () => (index) => BigInt(index) << 64n,
  'little-endian counters': () => (index) => {
    counterView.setUint32(0, index, true);
    counterView.setUint32(4, 0);
    return counter;
  },
  'big-endian counters': () => (index) => {
    counterView.setUint32(0, 0);
    counterView.setUint32(4, index);
    return counter;
  },
  'counters in the high bits': () => (index) => {
    counterView.setUint32(0, 0);
    counterView.setUint32(4, index << 8, true);
    return counter;
  },
  'numbers padded with zeros': () => (index) => String(index).padStart(12, '0'),
  'a long common prefix': () => (index) =>
    `https://shop.example.org/catalogue/products/by-sku/SKU-${index.toString(36)}`,
  'a common suffix': () => (index) => `${index}-products.shop.example.org`,
  'text beyond ASCII': () => (index) => `товар-${index}`,
  'random UUIDs': (random) => () =>
    uuid(hex(random, 8), hex(random, 4), `4${hex(random, 3)}`, `a${hex(random, 3)}`, random),
  'UUIDs in the order of time': (random) => (index) =>
    uuid(
      (0x0192f000 + (index >>> 16)).toString(16),
      (index & 0xffff).toString(16),
      `7${hex(random, 3)}`,
      '8000',
      random,
    ),
} satisfies Record<string, Pattern>;

/** Patterns of few ids: all there are. */
const small = {
  'one character': () => {
    const characters = Array.from({ length: 0xffff }, (_, index) => String.fromCharCode(index + 1));
    return characters.filter((character) => !/\p{Surrogate}/u.test(character));
  },
  'two bytes': () => Array.from({ length: 0x10000 }, (_, index) => Uint8Array.of(index >>> 8, index)),
  'sums of two powers of two': () => {
    const sums: bigint[] = [];
    for (let high = 1n; high < 256n; high++)
      for (let low = 0n; low < high; low++) sums.push((1n << high) + (1n << low));
    return sums;
  },
} satisfies Record<string, () => BloomId[]>;

export type EndlessPattern = keyof typeof endless;
export type SmallPattern = keyof typeof small;
export const endlessPatterns = Object.keys(endless) as EndlessPattern[];
export const smallPatterns = Object.keys(small) as SmallPattern[];

export interface Measurement {
  readonly seed: number;
  readonly pattern: EndlessPattern;
  /** Filters measured, each with a key of its own. */
  readonly keys: number;
  readonly capacity: number;
  readonly errorRate: number;
  /** Members, as a share of the capacity. */
  readonly load: number;
  /** Absent ids looked up in each filter. */
  readonly absentIds: number;
}

export interface ErrorRates {
  /** Mean of all filters. */
  readonly mean: number;
  /** One standard deviation of that mean, as the spread over the filters shows it. */
  readonly noise: number;
  readonly modelled: number;
}

export function measureErrorRate(measurement: Measurement): ErrorRates {
  const { seed, pattern, keys, capacity, errorRate, load, absentIds } = measurement;
  const members = Math.round(capacity * load);
  const random = new Random(seed);
  return overKeys({ random, keys, capacity, errorRate, members }, (filter) => {
    const id = endless[pattern](random);
    for (let index = 0; index < members; index++) filter.add(id(index));
    let falsePositives = 0;
    for (let index = members; index < members + absentIds; index++)
      if (filter.mightContain(id(index))) falsePositives++;
    return falsePositives / absentIds;
  });
}

/** Half of the ids of a small pattern are members, the other half is looked up. */
export function measureSmallPattern(measurement: {
  seed: number;
  pattern: SmallPattern;
  keys: number;
  errorRate: number;
}): ErrorRates {
  const { seed, pattern, keys, errorRate } = measurement;
  const random = new Random(seed);
  const ids: BloomId[] = small[pattern]();
  const members = ids.length >>> 1;
  return overKeys({ random, keys, capacity: members, errorRate, members }, (filter) => {
    random.shuffle(ids);
    for (let index = 0; index < members; index++) filter.add(ids[index]!);
    let falsePositives = 0;
    for (let index = members; index < ids.length; index++)
      if (filter.mightContain(ids[index]!)) falsePositives++;
    return falsePositives / (ids.length - members);
  });
}

function overKeys(
  options: { random: Random; keys: number; capacity: number; errorRate: number; members: number },
  measure: (filter: BlockedFilter) => number,
): ErrorRates {
  const { random, keys, members } = options;
  const plan = planFilter(options);
  const rates = Array.from({ length: keys }, () =>
    measure(new BlockedFilter({ ...createGeneration(plan), key: [random.uint32(), random.uint32()] })),
  );
  const mean = rates.reduce((sum, rate) => sum + rate, 0) / keys;
  const variance = rates.reduce((sum, rate) => sum + (rate - mean) ** 2, 0) / (keys - 1);
  return {
    mean,
    noise: Math.sqrt(variance / keys),
    modelled: modelledErrorRate({ hashCount: plan.hashCount, idsPerBlock: members / plan.blocks }),
  };
}

function hex(random: Random, digits: number): string {
  return (random.uint32() >>> (32 - digits * 4)).toString(16).padStart(digits, '0');
}

function uuid(first: string, second: string, third: string, fourth: string, random: Random): string {
  return `${first}-${second.padStart(4, '0')}-${third}-${fourth}-${hex(random, 8)}${hex(random, 4)}`;
}
