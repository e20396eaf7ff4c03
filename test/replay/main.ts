import { Progress } from '../../sample-app/src/demo/progress.js';
import { type ReplayArguments, parseReplayArguments, USAGE, UsageError } from './replay-arguments.js';
import { replay, type ReplayResult } from './replay.js';
import { generateTrace, readTrace } from './trace.js';

const REAL_TRACE_LINES = 541_909;

process.exitCode = await main(process.argv.slice(2));

/** @returns the exit code: 0, 1 for a wrong absent or an error, 2 for arguments that do not exist. */
async function main(words: readonly string[]): Promise<number> {
  try {
    const given = parseReplayArguments(words);
    if (given.help) {
      process.stdout.write(USAGE);
      return 0;
    }
    const result = await run(given);
    const { unknown: _, ...figures } = result;
    process.stdout.write(given.json ? `${JSON.stringify(figures)}\n` : report(result));
    return result.wrongAbsent > 0 ? 1 : 0;
  } catch (error) {
    const isUsage = error instanceof UsageError;
    process.stderr.write(isUsage ? `${error.message}\n\n${USAGE}` : `${(error as Error).message}\n`);
    return isUsage ? 2 : 1;
  }
}

async function run({ data, limit, without }: ReplayArguments): Promise<ReplayResult> {
  const trace = data === undefined ? generateTrace() : await readTrace(data);
  const progress = new Progress(process.stderr);
  const lines = Math.min(limit, trace.length ?? REAL_TRACE_LINES);
  progress.line(
    `Replaying ${lines.toLocaleString('en')} order lines on three instances${without ? `, without ${without}` : ''}.`,
  );
  return replay({
    trace,
    limit,
    without,
    onProgress: (lookups, created) =>
      progress.show(`${lookups.toLocaleString('en')} look-ups, ${created} products`, lookups / lines),
  });
}

function report(result: ReplayResult): string {
  const rows: [string, number][] = [
    ['look-ups', result.lookups],
    ['products created', result.created],
    ['rebuilds finished', result.rebuilds],
    ['rebuilds skipped', result.skipped],
    ['wrong absents', result.wrongAbsent],
    ['false positives', result.falsePositives],
    ['asked too early', result.unknown],
    ['instances', result.instances],
    ['seconds', result.seconds],
  ];
  return `${rows.map(([name, value]) => `${name.padEnd(20)}${value.toLocaleString('en').padStart(10)}`).join('\n')}\n`;
}
