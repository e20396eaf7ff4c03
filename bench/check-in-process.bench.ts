import { BloomFilter as NpmBloomfilter } from 'bloomfilter';
import { BlockedFilter, createGeneration, planFilter } from '../src/filter/index.js';
import { CLimit } from './c-limit.js';
import { type Bench, Comparison, type Contender } from './harness.js';
import { idText, idTexts, somePresent } from './ids.js';
import { type AskedFilter, asking, assertSound, BENCH_ERROR_RATE, npmBloomFilters } from './in-process.js';

const METRIC = 'checks/s';
/** As many as `limit.c` asks for in turn. */
const POOL = 1 << 20;

export const bench: Bench = async (context) => {
  const { report, pick } = context;
  const ids = pick(1_000_000, 20_000);
  const plan = planFilter({ capacity: ids, errorRate: BENCH_ERROR_RATE });
  const filters = [
    ours(ids, pick(4_000_000, 100_000)),
    npmBloomFilters(ids, pick(20_000, 1000)),
    npmBloomfilter(ids, pick(1_000_000, 50_000)),
  ];
  for (const filter of filters) for (let i = 0; i < ids; i++) filter.add(idText('prod', i));
  const pools = { hits: somePresent(pick(POOL, 20_000), ids), misses: idTexts('none', pick(POOL, 20_000)) };
  for (const filter of filters) assertSound(filter, pools);
  const limit = await CLimit.start(plan, pick(4_000_000, 100_000), context);

  for (const what of ['hits', 'misses'] as const) {
    const contenders: Contender[] = filters.map((filter) => asking(filter, pools[what]));
    contenders.push(readingCharacters(pick(4_000_000, 100_000), pools[what]));
    if (limit) contenders.push({ name: 'C', measure: () => limit.measure(what) });
    const result = await Comparison.run(contenders, pick(7, 1));
    const metric = `${METRIC}, ${what}`;
    result.reportOthers(report, metric);
    result.expectTimes(report, { metric, to: 'bloom-filters', atLeast: 100 });
    result.expectTimes(report, { metric, to: 'bloomfilter', atLeast: 1.2 });
    result.expectTimes(report, { metric, to: 'C', atLeast: 0.35 });
  }
};

function ours(capacity: number, checks: number): AskedFilter {
  const filter = new BlockedFilter(createGeneration(planFilter({ capacity, errorRate: BENCH_ERROR_RATE })));
  return {
    name: 'ours',
    checks,
    add: (id) => void filter.add(id),
    has: (id) => filter.mightContain(id),
  };
}

function npmBloomfilter(capacity: number, checks: number): AskedFilter {
  const filter = NpmBloomfilter.withTargetError(capacity, BENCH_ERROR_RATE);
  return { name: 'bloomfilter', checks, add: (id) => filter.add(id), has: (id) => filter.test(id) };
}

/** What every check of a text needs, and the C program has not: its characters one by one. */
function readingCharacters(checks: number, pool: readonly string[]): Contender {
  const sumOf = (id: string) => {
    let sum = 0;
    for (let i = 0; i < id.length; i++) sum += id.charCodeAt(i);
    return sum;
  };
  const reader = { name: 'limit: characters', checks, add: () => {}, has: (id: string) => sumOf(id) > 0 };
  return asking(reader, pool);
}
