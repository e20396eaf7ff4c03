import { BENCHES } from './bench-list.js';
import { type BenchContext, Report } from './harness.js';

// Runs one benchmark: its name, and `quick` or `full`. Rows go to standard output, a JSON line each.
const [name, mode] = process.argv.slice(2);
const quick = mode === 'quick';
const works: (() => unknown)[] = [];
const context: BenchContext = {
  quick,
  pick: (full, little) => (quick ? little : full),
  report: new Report(name!, !quick, (row) => process.stdout.write(`${JSON.stringify(row)}\n`)),
  skip: (what, why) => void process.send?.(`${name}: ${what}: ${why}`),
  cleanUp: (work) => void works.unshift(work),
};
try {
  const { bench } = await BENCHES[name!]!();
  await bench(context);
} catch (error) {
  process.stderr.write(`${name}: ${(error as Error).stack}\n`);
  process.exitCode = 1;
} finally {
  for (const work of works) await work();
}
process.exit();
