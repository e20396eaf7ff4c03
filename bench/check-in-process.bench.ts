import bloomFilters from 'bloom-filters';
import { BloomFilter as NpmBloomfilter } from 'bloomfilter';
import { BlockedFilter, createGeneration, planFilter } from '../src/filter/index.js';
import { CLimit } from './c-limit.js';
import { assert, type Bench, Comparison, type Contender, rate } from './harness.js';
import { idText, idTexts, somePresent } from './ids.js';

const METRIC = 'checks/s';
/** As many as `limit.c` asks for in turn. */
const POOL = 1 << 20;

interface Filter {
  readonly name: string;
  readonly checks: number;
  add(id: string): void;
  has(id: string): boolean;
}

export const bench: Bench = async (context) => {
  const { report, pick } = context;
  const ids = pick(1_000_000, 20_000);
  const plan = planFilter({ capacity: ids, errorRate: 0.001 });
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
    const contenders: Contender[] = filters.map((filter) => contender(filter, pools[what]));
    contenders.push(readingCharacters(pick(4_000_000, 100_000), pools[what]));
    if (limit) contenders.push({ name: 'C', measure: () => limit.measure(what) });
    const result = await Comparison.run(contenders, pick(7, 1));
    const metric = `${METRIC}, ${what}`;
    result.reportOthers(report, metric);
    result.expectTimes(report, { metric, to: 'bloom-filters', atLeast: 100 });
    result.expectTimes(report, { metric, to: 'bloomfilter', atLeast: 2.5 });
    result.expectTimes(report, { metric, to: 'C', atLeast: 0.35 });
  }
};

function ours(capacity: number, checks: number): Filter {
  const filter = new BlockedFilter(createGeneration(planFilter({ capacity, errorRate: 0.001 })));
  return {
    name: 'ours',
    checks,
    add: (id) => void filter.add(id),
    has: (id) => filter.mightContain(id),
  };
}

function npmBloomFilters(capacity: number, checks: number): Filter {
  const filter = bloomFilters.BloomFilter.create(capacity, 0.001);
  return { name: 'bloom-filters', checks, add: (id) => filter.add(id), has: (id) => filter.has(id) };
}

function npmBloomfilter(capacity: number, checks: number): Filter {
  const filter = NpmBloomfilter.withTargetError(capacity, 0.001);
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
  return contender(reader, pool);
}

function contender({ name, checks, has }: Filter, pool: readonly string[]): Contender {
  const mask = pool.length;
  const measure = () =>
    rate(checks, () => {
      let found = 0;
      for (let i = 0, at = 0; i < checks; i++) {
        if (has(pool[at]!)) found++;
        if (++at === mask) at = 0;
      }
      return found;
    });
  return { name, measure };
}

function assertSound(
  filter: Filter,
  { hits, misses }: { hits: readonly string[]; misses: readonly string[] },
): void {
  const { name } = filter;
  const sample = 20_000;
  assert(
    hits.slice(0, sample).every((id) => filter.has(id)),
    `${name} to find every id`,
  );
  const wrong = misses.slice(0, sample).filter((id) => filter.has(id)).length;
  assert(wrong < sample * 0.003, `${name} to let about 20 of ${sample} absent ids through, not ${wrong}`);
}
