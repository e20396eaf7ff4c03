import { allFaults } from './all-faults.js';
import { BF_SKIPPED, hasBfServer } from './bf-faults.js';
import type { Fault, Judgement } from './fault.js';
import { runProgram, UsageError } from '../shared/command-line.js';
import { useClient } from '../shared/redis-client.js';
import { type FaultsArguments, parseFaultsArguments, USAGE } from './faults-arguments.js';
import { failedRow, hasFailed, heading, jsonRow, tableRow } from './report.js';

/** Far beyond what a row takes on a busy machine. */
const ENDLESS_MS = 600_000;
/** For what a row that failed has left behind. */
const LAST_MS = 5_000;

/** What a row that failed has left to itself: the others are still to be run. */
const strays: unknown[] = [];
process.on('unhandledRejection', (error) => strays.push(error));

/** Exit code 1: a wrong absent, an error or a fault without an end. */
await runProgram({
  usage: USAGE,
  parse: parseFaultsArguments,
  run: async (given) => ((await run(given)) ? 0 : 1),
});
setTimeout(() => process.exit(), LAST_MS).unref();

/** @returns whether everything held. */
async function run(given: FaultsArguments): Promise<boolean> {
  const { only, quick, beyond, jobs, json, without } = given;
  useClient(given.client, without !== undefined);
  const startedAt = performance.now();
  if (!hasBfServer) process.stderr.write(`${BF_SKIPPED}\n`);
  const chosen = allFaults.filter(
    (fault) =>
      fault.isBeyond === beyond &&
      (!quick || fault.quick) &&
      (only.length === 0 || only.some((text) => `${fault.group}: ${fault.name}`.includes(text))),
  );
  if (chosen.length === 0) throw new UsageError('No fault is named so.');
  const rows: Judgement[] = [];
  if (!json) process.stdout.write(`${heading()}\n`);
  const judge = async (fault: Fault) => {
    const row = await judged(fault, without);
    rows.push(row);
    process.stdout.write(`${json ? jsonRow(row) : tableRow(fault.group, row)}\n`);
  };
  for (const fault of chosen.filter(({ alone }) => alone)) await judge(fault);
  const waiting = chosen.filter(({ alone }) => !alone);
  const work = async () => {
    for (let fault = waiting.shift(); fault; fault = waiting.shift()) await judge(fault);
  };
  await Promise.all(Array.from({ length: jobs }, work));

  const failed = rows.filter(hasFailed).length;
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  if (!json) process.stdout.write(`${rows.length} faults in ${seconds} s, ${failed} of them not held.\n`);
  for (const stray of strays) process.stderr.write(`Nobody waited for: ${String(stray)}\n`);
  return failed === 0 && strays.length === 0;
}

/** Whatever goes wrong is a row that failed: the others are still to be run. */
async function judged(fault: Fault, without: FaultsArguments['without']): Promise<Judgement> {
  let timer: NodeJS.Timeout | undefined;
  const endless = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`It had no end within ${ENDLESS_MS} ms.`)), ENDLESS_MS);
  });
  try {
    return await Promise.race([fault.run({ without }), endless]);
  } catch (error) {
    return failedRow(fault.name, error);
  } finally {
    clearTimeout(timer);
  }
}
