import { UsageError } from '../verification/shared/command-line.js';
import { BENCHES } from './bench-list.js';

export interface BenchArguments {
  readonly names: readonly string[];
  readonly json: boolean;
  readonly quick: boolean;
  readonly help: boolean;
}

export const USAGE = `npm run bench [-- <name>… | <number>…] [--json] [--quick]

Measures what the goals in bench/README.md name, each benchmark in a process of its own.

  --json    a JSON line for each figure: { bench, contender, metric, value, ratio, goal, met, far }
  --quick   a smoke run with little work: results are asserted and ratios printed, no goal is judged
  --help    this text

Benchmarks: ${Object.keys(BENCHES)
  .map((name, i) => `${i + 1} ${name}`)
  .join(', ')}
Environment: BLOOM_BENCH_BF_URL, a server with RedisBloom (its keys bench:* are overwritten);
             BLOOM_BENCH_POSTGRES_URL, a Postgres server for the attack (its table bloom_bench_products is overwritten)
             in place of one that the benchmark starts where Postgres is installed.
`;

/** @throws {UsageError} */
export function parseBenchArguments(words: readonly string[]): BenchArguments {
  const all = Object.keys(BENCHES);
  const names: string[] = [];
  const flags = new Set<string>();
  for (const word of words) {
    const name = /^\d+$/.test(word) ? all[Number(word) - 1] : word;
    if (['--json', '--quick', '--help'].includes(word)) flags.add(word);
    else if (name !== undefined && all.includes(name)) names.push(name);
    else throw new UsageError(`Expected names of benchmarks, --json, --quick or --help, got '${word}'.`);
  }
  return {
    names: names.length > 0 ? names : all,
    json: flags.has('--json'),
    quick: flags.has('--quick'),
    help: flags.has('--help'),
  };
}
