import { Progress } from '../../sample-app/src/demo/progress.js';
import { changedScripts } from '../../test/support/broken-lua.js';
import type { Breakage, Safety } from './broken-store.js';
import { startRedis } from '../../test/support/redis-server.js';
import { runProgram } from '../shared/command-line.js';
import { virtualise } from './ambient.js';
import { type ExploreArguments, parseExploreArguments, USAGE } from './explore-arguments.js';
import { Explorer, type Figures } from './explorer.js';
import { SIGHTS } from './leased/sightings.js';
import { FAMILIES } from './families/all-families.js';
import type { Family } from './families/family.js';
import { PINNED_SEEDS } from './pinned-seeds.js';
import { ServerLink } from './server-link.js';
import { shrink } from './shrink.js';

/** How many schedules are tried to find out that a safety is missing. */
const MOST_TO_CATCH = 10_000;
interface FamilyResult {
  readonly family: string;
  readonly schedules: number;
  readonly steps: number;
  readonly violations: number;
  readonly stuck: number;
  readonly broken: readonly BrokenResult[];
}

interface BrokenResult {
  readonly safety: string;
  readonly caught: boolean;
  /** How many scripts it stood in; 0 for one that is no part of a script. */
  readonly scripts: number;
  /** Another safety covers for it. */
  readonly isSpare: boolean;
  /** Seed of a schedule that shows it. */
  readonly shownBy: number | null;
}

const progress = new Progress(process.stderr);

/** Exit code 1: a violation, a process that hangs, or a safety that is not missed. */
await runProgram({
  usage: USAGE,
  parse: parseExploreArguments,
  async run(given) {
    virtualise();
    const redis = await startRedis();
    const link = new ServerLink(redis.url);
    try {
      for (const family of FAMILIES) await (await Explorer.open(link, family)).makeTemplates();
      return given.without ? await showBroken(link, given, given.without) : await explore(link, given);
    } finally {
      link.close();
      await redis.stop();
    }
  },
});

async function explore(link: ServerLink, given: ExploreArguments): Promise<number> {
  const { schedules, seed, json } = given;
  progress.line(`Seed of the first schedule of each kind: ${seed}. The same again: --seed ${seed}.`);
  const families = FAMILIES.filter(({ name }) => given.family === undefined || name === given.family);
  const shares = families.reduce((sum, { share }) => sum + share, 0);
  const results: FamilyResult[] = [];
  let isSound = true;
  for (const family of given.pinned ? families : []) {
    if (!(await holdsPinned(link, family))) isSound = false;
  }
  for (const family of families) {
    const count = given.each ? schedules : Math.max(1, Math.round((schedules * family.share) / shares));
    const result = await exploreFamily(link, family, { ...given, schedules: count });
    results.push(result);
    const isMissed = result.broken.every(({ caught, isSpare }) => isSpare || caught);
    if (result.violations > 0 || result.stuck > 0 || !isMissed) isSound = false;
  }
  if (json) process.stdout.write(`${JSON.stringify({ schedules, seed, families: results })}\n`);
  return isSound ? 0 : 1;
}

async function exploreFamily(
  link: ServerLink,
  family: Family,
  given: ExploreArguments,
): Promise<FamilyResult> {
  const { schedules, seed } = given;
  const startedAt = performance.now();
  const explorer = await Explorer.open(link, family);
  const figures = await explorer.run({
    firstSeed: seed,
    count: schedules,
    onProgress: (done) =>
      progress.show(`${family.name}: ${done} of ${schedules} schedules`, done / schedules),
  });
  const seconds = (performance.now() - startedAt) / 1000;
  const { absent, maybe, unknown } = figures.verdicts;
  const rate = (figures.schedules / seconds).toFixed(0);
  progress.line(
    `${family.name}: ${figures.schedules} schedules, ${figures.steps} steps in ${seconds.toFixed(1)} s (${rate} schedules/s). ` +
      `Verdicts: ${maybe} maybe, ${absent} absent, ${unknown} unknown. Schedules with a wrong absent: ${figures.failed.length}.`,
  );
  showSights(figures);
  await showFailures(explorer, family, figures);
  const broken: BrokenResult[] = [];
  for (const safety of given.intact ? [] : family.safeties) {
    const result = await takeOut(link, family, safety);
    broken.push(result);
    progress.line(describe(safety, result));
  }
  const { steps, failed, stuck } = figures;
  return { family: family.name, schedules, steps, violations: failed.length, stuck: stuck.length, broken };
}

/** Schedules that failed once. */
async function holdsPinned(link: ServerLink, family: Family): Promise<boolean> {
  const explorer = await Explorer.open(link, family);
  let holds = true;
  for (const { seed, why } of PINNED_SEEDS.filter((pinned) => pinned.family === family.name)) {
    const figures = await explorer.run({ firstSeed: seed, count: 1 });
    const isHeld = figures.failed.length === 0 && figures.stuck.length === 0;
    progress.line(`${family.name}: the schedule of seed ${seed} ${isHeld ? 'holds' : 'FAILED'} (${why}).`);
    await showFailures(explorer, family, figures);
    if (!isHeld) holds = false;
  }
  return holds;
}

async function showFailures(explorer: Explorer, family: Family, { failed, stuck }: Figures): Promise<void> {
  if (failed.length > 0) {
    progress.line(`A wrong absent in the schedules of these seeds: ${failed.join(', ')}.`);
    await show(explorer, family, failed[0]!);
  }
  if (stuck.length > 0) {
    progress.line(
      `Somebody waits for what never comes in the schedules of these seeds: ${stuck.join(', ')}.`,
    );
  }
}

/** How often what is rare has happened: a run in which it does not says nothing of it. */
function showSights({ sights: { times, schedules } }: Figures): void {
  const seen = SIGHTS.map((name) => `${name} ${times[name]} (in ${schedules[name]} schedules)`);
  if (SIGHTS.some((name) => times[name] > 0)) progress.line(`Seen: ${seen.join(', ')}.`);
}

async function takeOut(link: ServerLink, family: Family, safety: Safety): Promise<BrokenResult> {
  const isSpare = safety.spare !== undefined;
  const breakage = await safety.take();
  const found = { safety: safety.name, scripts: scriptsIn(breakage), isSpare };
  const explorer = await Explorer.open(link, family, breakage);
  const { shownBy } = safety;
  if (shownBy !== undefined) {
    const { failed } = await explorer.run({ firstSeed: shownBy, count: 1 });
    if (failed.length > 0) return { ...found, caught: true, shownBy };
  }
  const count = isSpare ? family.triesOfSpare : MOST_TO_CATCH;
  const { failed } = await explorer.run({
    // Those of the table in docs/internals/measured.md: a missed safety must not depend on today's seed.
    firstSeed: 1,
    count,
    stopsAtFailure: true,
    onProgress: (done) => progress.show(`without ${safety.name}: ${done} schedules`, done / count),
  });
  const [first] = failed;
  return { ...found, caught: first !== undefined, shownBy: first ?? null };
}

async function showBroken(link: ServerLink, { seed }: ExploreArguments, safety: Safety): Promise<number> {
  const breakage = await safety.take();
  progress.line(`Taken out, ${safety.name}${inScripts(scriptsIn(breakage))}: ${safety.what}.`);
  const family = FAMILIES.find(({ safeties }) => safeties.includes(safety))!;
  const explorer = await Explorer.open(link, family, breakage);
  const { failed } = await explorer.run({ firstSeed: seed, count: MOST_TO_CATCH, stopsAtFailure: true });
  if (failed.length > 0) await show(explorer, family, failed[0]!);
  else progress.line(`No schedule of ${MOST_TO_CATCH} failed without ${safety.name}.`);
  return failed.length > 0 || safety.spare !== undefined ? 0 : 1;
}

/** Prints the shortest form of a schedule that failed. */
async function show(explorer: Explorer, { name }: Family, seed: number): Promise<void> {
  const shortest = await shrink(explorer, seed);
  if (!shortest) {
    progress.line(`The schedule of seed ${seed} failed, but not when it was run again.`);
    return;
  }
  progress.line(
    `The schedule of seed ${seed} (--family ${name} --seed ${seed} --schedules 1), in its shortest form:`,
  );
  for (const line of shortest.trace) progress.line(`  ${line}`);
  for (const violation of new Set(shortest.violations)) progress.line(`  WRONG: ${violation}`);
}

function scriptsIn({ lua }: Breakage): number {
  return lua ? changedScripts(lua).length : 0;
}

function inScripts(count: number): string {
  return count === 0 ? '' : ` (${count} ${count === 1 ? 'script' : 'scripts'})`;
}

function describe({ name, spare }: Safety, { caught, scripts, shownBy }: BrokenResult): string {
  const without = `Without ${name}${inScripts(scripts)}:`.padEnd(46);
  if (caught) return `${without}caught by the schedule of seed ${shownBy}`;
  return spare === undefined ? `${without}NOT CAUGHT` : `${without}not caught, as expected: ${spare}`;
}
