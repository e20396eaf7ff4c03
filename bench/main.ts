import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type BenchArguments, parseBenchArguments, USAGE, UsageError } from './bench-arguments.js';
import type { Row } from './harness.js';

const PROGRAM = fileURLToPath(new URL('bench-process.ts', import.meta.url));
const LIMIT_MS = 15 * 60_000;

process.exitCode = await main(process.argv.slice(2));

/** @returns the exit code: 0, 1 for a benchmark that failed, 2 for arguments that do not exist. A goal not met is no failure. */
async function main(words: readonly string[]): Promise<number> {
  let given: BenchArguments;
  try {
    given = parseBenchArguments(words);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n\n${USAGE}`);
    return 2;
  }
  if (given.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  if (!given.json) process.stdout.write(`Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}\n`);
  let failures = 0;
  for (const name of given.names) {
    if (!given.json) process.stdout.write(`\n${name}\n`);
    if (!(await run(name, given))) failures++;
  }
  return failures > 0 ? 1 : 0;
}

/** In a process of its own, so that no benchmark inherits another one's heap and compiled code. */
async function run(name: string, { json, quick }: BenchArguments): Promise<boolean> {
  const flags = ['--expose-gc', '--max-old-space-size=6144', ...process.execArgv];
  const child = spawn(process.execPath, [...flags, PROGRAM, name, quick ? 'quick' : 'full'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: LIMIT_MS,
  });
  const exited = once(child, 'exit');
  for await (const line of createInterface(child.stdout)) {
    process.stdout.write(json ? `${line}\n` : tableLine(JSON.parse(line) as Row));
  }
  const [code] = (await exited) as [number | null];
  return code === 0;
}

function tableLine({ contender, metric, value, ratio, goal, met }: Row): string {
  const figure = `  ${contender.padEnd(24)} ${metric.padEnd(34)} ${shown(value).padStart(12)}`;
  if (ratio === null) return `${figure}\n`;
  const verdict = met === null ? '' : met ? 'met' : 'NOT MET';
  return `${figure}  ${shown(ratio).padStart(9)}  goal ${goal}  ${verdict}\n`;
}

function shown(value: number): string {
  const digits = Math.abs(value) >= 1000 ? 0 : Math.abs(value) >= 10 ? 1 : 3;
  return value.toLocaleString('en', { maximumFractionDigits: digits });
}
