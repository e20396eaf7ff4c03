import {
  BLOCK_BYTES,
  BlockedFilter,
  createGeneration,
  type GenerationPlan,
  planExact,
  planFilter,
} from '../src/filter/index.js';
import { assert, type Bench, Comparison } from './harness.js';
import { type AskedFilter, asking, assertSound, BENCH_ERROR_RATE } from './in-process.js';

/** Ids that the plan of an exact filter has room for outside its range. */
const OTHERS = 64;

export const bench: Bench = async ({ report, pick }) => {
  const integers = pick(1_333_332, 26_664);
  const capacity = (integers / 4) * 3 + OTHERS;
  const exact = planExact({ first: 1, integers }, BENCH_ERROR_RATE);
  assert(exact !== undefined, 'a range to have a plan');
  const checks = pick(8_000_000, 100_000);
  const filters = [
    asked('ours', exact, checks),
    asked('blocked', planFilter({ capacity, errorRate: BENCH_ERROR_RATE }), checks),
  ];
  // Three of four integers of the range exist, and some far beyond it.
  const within = { hits: (i: number) => i + 1 + Math.floor(i / 3), misses: (i: number) => 4 * (i + 1) };
  const beyond = { hits: (i: number) => 10 * integers + i, misses: (i: number) => 20 * integers + i };
  for (const { add } of filters) {
    for (let i = 0; i < capacity - OTHERS; i++) add(String(within.hits(i)));
    for (let i = 0; i < OTHERS; i++) add(String(beyond.hits(i)));
  }
  const poolOf = (of: (i: number) => number, many: number) =>
    Array.from({ length: pick(1 << 20, 20_000) }, () => String(of(Math.floor(Math.random() * many))));
  const pools = {
    'within the range': {
      hits: poolOf(within.hits, capacity - OTHERS),
      misses: poolOf(within.misses, integers / 4),
    },
    'beyond the range': { hits: poolOf(beyond.hits, OTHERS), misses: poolOf(beyond.misses, integers) },
  };
  for (const pool of Object.values(pools)) for (const filter of filters) assertSound(filter, pool);
  const passed = pools['within the range'].misses.filter((id) => filters[0]!.has(id)).length;
  assert(passed === 0, `no absent integer of the range to pass, not ${passed}`);

  for (const [where, pool] of Object.entries(pools))
    for (const what of ['hits', 'misses'] as const) {
      const result = await Comparison.run(
        filters.map((filter) => asking(filter, pool[what])),
        pick(7, 1),
      );
      const metric = `checks/s, ${what} ${where}`;
      result.reportOthers(report, metric);
      // Beyond the range an id is hashed all the same.
      const atLeast = where === 'within the range' ? 2 : 0.7;
      result.expectTimes(report, { metric, to: 'blocked', atLeast });
    }
  const bits = (exact.blocks * BLOCK_BYTES * 8) / integers;
  report.goal({
    contender: 'ours',
    metric: 'bits for an integer of the range',
    value: bits,
    ratio: bits,
    atMost: 1.1,
    of: 'bits',
  });
};

function asked(name: string, plan: GenerationPlan, checks: number): AskedFilter {
  const filter = new BlockedFilter(createGeneration(plan));
  return { name, checks, add: (id) => void filter.add(id), has: (id) => filter.mightContain(id) };
}
