import { Progress } from '../../sample-app/src/demo/progress.js';
import { PROTOCOL_SAFETIES, type Safety } from '../support/broken-store.js';
import { startRedis } from '../support/redis-server.js';
import { virtualise } from './ambient.js';
import { type ExploreArguments, parseExploreArguments, USAGE, UsageError } from './explore-arguments.js';
import { Explorer } from './explorer.js';
import { ServerLink } from './server-link.js';
import { shrink } from './shrink.js';

/** How many schedules are tried to find out that a safety is missing. */
const MOST_TO_CATCH = 10_000;
/** As many for one that another safety covers for, unless fewer are asked for. */
const MOST_FOR_SPARE = 1_000;

interface BrokenResult {
  readonly safety: string;
  readonly caught: boolean;
  readonly schedulesNeeded: number | null;
}

const progress = new Progress(process.stderr);

process.exitCode = await main(process.argv.slice(2));

/** @returns the exit code: 0, 1 for a violation, a process that hangs, or a safety that is not missed, 2 for arguments that do not exist. */
async function main(words: readonly string[]): Promise<number> {
  try {
    const given = parseExploreArguments(words);
    if (given.help) {
      process.stdout.write(USAGE);
      return 0;
    }
    virtualise();
    const redis = await startRedis();
    const link = new ServerLink(redis.url);
    try {
      const explorer = await Explorer.open(link);
      await explorer.makeTemplates();
      return given.without
        ? await showBroken(link, given, given.without)
        : await explore(link, explorer, given);
    } finally {
      link.close();
      await redis.stop();
    }
  } catch (error) {
    const isUsage = error instanceof UsageError;
    process.stderr.write(isUsage ? `${error.message}\n\n${USAGE}` : `${(error as Error).stack}\n`);
    return isUsage ? 2 : 1;
  }
}

async function explore(link: ServerLink, explorer: Explorer, given: ExploreArguments): Promise<number> {
  const { schedules, seed, json } = given;
  const startedAt = performance.now();
  const figures = await explorer.run({
    firstSeed: seed,
    count: schedules,
    onProgress: (done) => progress.show(`${done} of ${schedules} schedules`, done / schedules),
  });
  const seconds = (performance.now() - startedAt) / 1000;
  const { absent, maybe, unknown } = figures.verdicts;
  progress.line(
    `${figures.schedules} schedules, ${figures.steps} steps in ${seconds.toFixed(1)} s. Verdicts: ${maybe} maybe, ` +
      `${absent} absent, ${unknown} unknown. Schedules with a wrong absent: ${figures.failed.length}.`,
  );
  if (figures.failed.length > 0) await show(explorer, figures.failed[0]!);
  if (figures.stuck.length > 0) {
    progress.line(
      `Somebody waits for what never comes in the schedules of these seeds: ${figures.stuck.join(', ')}.`,
    );
  }

  const broken: BrokenResult[] = [];
  for (const safety of PROTOCOL_SAFETIES) {
    const result = await takeOut(link, safety, given);
    broken.push(result);
    progress.line(describe(safety, result));
  }
  const result = { schedules, seed, steps: figures.steps, violations: figures.failed.length, broken };
  if (json) process.stdout.write(`${JSON.stringify(result)}\n`);
  const isMissed = PROTOCOL_SAFETIES.every(({ spare }, i) => spare !== undefined || broken[i]!.caught);
  return figures.failed.length === 0 && figures.stuck.length === 0 && isMissed ? 0 : 1;
}

async function takeOut(link: ServerLink, safety: Safety, given: ExploreArguments): Promise<BrokenResult> {
  const explorer = await Explorer.open(link, safety.take());
  const count = safety.spare === undefined ? MOST_TO_CATCH : Math.min(given.schedules, MOST_FOR_SPARE);
  const { failed } = await explorer.run({
    firstSeed: given.seed,
    count,
    stopsAtFailure: true,
    onProgress: (done) => progress.show(`without ${safety.name}: ${done} schedules`, done / count),
  });
  const [first] = failed;
  const schedulesNeeded = first === undefined ? null : first - given.seed + 1;
  return { safety: safety.name, caught: first !== undefined, schedulesNeeded };
}

async function showBroken(link: ServerLink, { seed }: ExploreArguments, safety: Safety): Promise<number> {
  progress.line(`Taken out, ${safety.name}: ${safety.what}.`);
  const explorer = await Explorer.open(link, safety.take());
  const { failed } = await explorer.run({ firstSeed: seed, count: MOST_TO_CATCH, stopsAtFailure: true });
  if (failed.length > 0) await show(explorer, failed[0]!);
  else progress.line(`No schedule of ${MOST_TO_CATCH} failed without ${safety.name}.`);
  return failed.length > 0 || safety.spare !== undefined ? 0 : 1;
}

/** Prints the shortest form of a schedule that failed. */
async function show(explorer: Explorer, seed: number): Promise<void> {
  const shortest = await shrink(explorer, seed);
  if (!shortest) {
    progress.line(`The schedule of seed ${seed} failed, but not when it was run again.`);
    return;
  }
  progress.line(`The schedule of seed ${seed} (--seed ${seed} --schedules 1), in its shortest form:`);
  for (const line of shortest.trace) progress.line(`  ${line}`);
  for (const violation of new Set(shortest.violations)) progress.line(`  WRONG: ${violation}`);
}

function describe({ name, spare }: Safety, { caught, schedulesNeeded }: BrokenResult): string {
  const without = `Without ${name}:`.padEnd(28);
  if (caught) return `${without}caught by schedule ${schedulesNeeded}`;
  return spare === undefined ? `${without}NOT CAUGHT` : `${without}not caught, as expected: ${spare}`;
}
