import { runProgram } from '../../verification/shared/command-line.js';
import { type ExperimentArguments, parseExperimentArguments, USAGE } from './experiment-arguments.js';
import { type Outcome, runExperiment } from './experiment.js';

const COLUMNS: readonly { readonly title: string; readonly value: (outcome: Outcome) => string }[] = [
  { title: 'layout', value: ({ layout }) => layout },
  { title: 'bytes', value: ({ bytes }) => number(bytes) },
  { title: 'hashes', value: ({ hashCount }) => number(hashCount) },
  { title: 'expected', value: ({ expectedFalsePositives: expected }) => expected.toPrecision(3) },
  { title: 'measured', value: ({ measuredFalsePositives: measured }) => number(measured) },
  { title: 'missed', value: ({ falseNegatives }) => number(falseNegatives) },
  { title: 'add ns', value: ({ addNs }) => addNs.toFixed(0) },
  { title: 'present ns', value: ({ presentNs }) => presentNs.toFixed(0) },
  { title: 'absent ns', value: ({ absentNs }) => absentNs.toFixed(0) },
];

/** Exit code 1: a false negative. */
await runProgram({
  usage: USAGE,
  parse: parseExperimentArguments,
  run(given) {
    const outcomes = given.json ? printJson(given) : printTable(given);
    return outcomes.some(({ falseNegatives }) => falseNegatives > 0) ? 1 : 0;
  },
});

function printJson(experiment: ExperimentArguments): Outcome[] {
  const { capacity, bitsPerId, inserted, probes, seed } = experiment;
  const outcomes = [...runExperiment(experiment)];
  process.stdout.write(`${JSON.stringify({ capacity, bitsPerId, inserted, probes, seed, outcomes })}\n`);
  return outcomes;
}

function printTable(experiment: ExperimentArguments): Outcome[] {
  const { capacity, bitsPerId, inserted, probes, seed } = experiment;
  process.stdout.write(
    `${number(capacity)} ids expected at ${bitsPerId} bits, ${number(inserted)} inserted, ${number(probes)} absent UUIDs looked ` +
      `up (SEED=${seed}).\n\n${row(COLUMNS.map(({ title }) => title))}`,
  );
  const outcomes: Outcome[] = [];
  for (const outcome of runExperiment(experiment)) {
    process.stdout.write(row(COLUMNS.map(({ value }) => value(outcome))));
    outcomes.push(outcome);
  }
  return outcomes;
}

function row(cells: readonly string[]): string {
  return `${cells.map((cell, at) => (at === 0 ? cell.padEnd(20) : cell.padStart(11))).join('')}\n`;
}

function number(value: number): string {
  return value.toLocaleString('en');
}
