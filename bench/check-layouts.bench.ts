import { cuckoo, goZero, guava, redisBloom, redisson } from '@nestjs-bloom/interop';
import { type Bench, Comparison } from './harness.js';
import { idText, idTexts, somePresent } from './ids.js';
import { type AskedFilter, asking, assertSound, BENCH_ERROR_RATE, npmBloomFilters } from './in-process.js';

/** Eight bits of fingerprint, one of them in each of two buckets. */
const CUCKOO_ERROR_RATE = 2 / 255;

interface Layout {
  add(id: string): boolean;
  mightContain(id: string): boolean;
}

export const bench: Bench = async (context) => {
  const { report, pick } = context;
  const ids = pick(1_000_000, 20_000);
  const layouts = Object.entries(layoutsFor(ids)).map(([name, filter]): AskedFilter => ({
    name,
    checks: pick(1_000_000, 50_000),
    add: (id) => void filter.add(id),
    has: (id) => filter.mightContain(id),
  }));
  const filters = [npmBloomFilters(ids, pick(20_000, 1000)), ...layouts];
  for (const filter of filters) for (let i = 0; i < ids; i++) filter.add(idText('prod', i));
  const pools = {
    hits: somePresent(pick(1 << 20, 20_000), ids),
    misses: idTexts('none', pick(1 << 20, 20_000)),
  };
  for (const filter of filters) {
    assertSound(filter, pools, filter.name === 'cuckoo' ? CUCKOO_ERROR_RATE : BENCH_ERROR_RATE);
  }
  for (const what of ['hits', 'misses'] as const) {
    const contenders = filters.map((filter) => asking(filter, pools[what]));
    const result = await Comparison.run(contenders, pick(5, 1));
    const metric = `checks/s, ${what}`;
    const ours = layouts.map(({ name }) => name);
    result.reportOthers(report, metric, ours);
    for (const name of ours) {
      result.expectTimes(report, { ours: name, metric, to: 'bloom-filters', atLeast: 20 });
    }
  }
};

/** Every layout that is shared with other systems, as the peer sizes it. */
function layoutsFor(capacity: number): Record<string, Layout> {
  const target = { capacity, errorRate: BENCH_ERROR_RATE };
  const strings = { ...target, funnel: 'stringFunnel' } as const;
  const slots = 2 ** Math.ceil(Math.log2(capacity * 1.25));
  const table = cuckoo.create({ capacity: slots, bucketSize: 1 });
  return {
    'go-zero': goZero.create(goZero.size(target)),
    'Guava MITZ_64': guava.create(strings),
    'Guava MITZ_32': guava.create({ ...strings, strategy: 'MURMUR128_MITZ_32' }),
    'Redisson String': redisson.create({ ...target, codec: 'StringCodec' }),
    'Redisson Kryo5': redisson.create({ ...target, codec: 'Kryo5Codec' }),
    'RedisBloom fixed': redisBloom.create({ ...target, nonScaling: true }),
    'RedisBloom scaling': redisBloom.create(target),
    cuckoo: { add: (id) => table.addIfAbsent(id), mightContain: (id) => table.mightContain(id) },
  };
}
