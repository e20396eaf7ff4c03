import { RULES } from './limit-rules.js';
import { SCENARIOS } from './scenarios.js';
import { type Outcome, simulate } from './simulation.js';

// Prints a table for docs/internals/budget-rule.md: of each rule, the share of existing ids that are served,
// and their 99th percentile in milliseconds.
const SEED = 1;
const names = Object.keys(RULES);
print(['', ...names]);
print(['---', ...names.map(() => '---:')]);
for (const [name, scenario] of Object.entries(SCENARIOS)) {
  const cells: string[] = [];
  for (const rule of Object.values(RULES)) cells.push(described(await simulate(scenario, rule, SEED)));
  print([name, ...cells]);
}

function described({ served, p99 }: Outcome): string {
  const percent = served === 1 ? '100' : (Math.floor(served * 1000) / 10).toFixed(1);
  return served === 0 ? '0 %' : `${percent} %, ${p99.toFixed(0)} ms`;
}

function print(cells: readonly string[]): void {
  process.stdout.write(`| ${cells.join(' | ')} |\n`);
}
