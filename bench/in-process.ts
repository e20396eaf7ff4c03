import bloomFilters from 'bloom-filters';
import { assert, type Contender, rate } from './harness.js';

export const BENCH_ERROR_RATE = 0.001;

/** A filter in this process, and how often it is asked in a round. */
export interface AskedFilter {
  readonly name: string;
  readonly checks: number;
  add(id: string): void;
  has(id: string): boolean;
}

export interface AskedIds {
  readonly hits: readonly string[];
  readonly misses: readonly string[];
}

export function npmBloomFilters(capacity: number, checks: number): AskedFilter {
  const filter = bloomFilters.BloomFilter.create(capacity, BENCH_ERROR_RATE);
  return { name: 'bloom-filters', checks, add: (id) => filter.add(id), has: (id) => filter.has(id) };
}

export function asking({ name, checks, has }: AskedFilter, pool: readonly string[]): Contender {
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

export function assertSound(
  filter: AskedFilter,
  { hits, misses }: AskedIds,
  errorRate = BENCH_ERROR_RATE,
): void {
  const { name } = filter;
  const sample = 20_000;
  assert(
    hits.slice(0, sample).every((id) => filter.has(id)),
    `${name} to find every id`,
  );
  const wrong = misses.slice(0, sample).filter((id) => filter.has(id)).length;
  const expected = sample * errorRate;
  assert(
    wrong < expected * 3,
    `${name} to let about ${expected} of ${sample} absent ids through, not ${wrong}`,
  );
}
