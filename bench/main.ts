import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { runProgram } from '../verification/shared/command-line.js';
import { type BenchArguments, parseBenchArguments, USAGE } from './bench-arguments.js';
import type { Row } from './harness.js';
import { Summary } from './summary.js';

const PROGRAM = fileURLToPath(new URL('bench-process.ts', import.meta.url));
const LIMIT_MS = 15 * 60_000;

/** Exit code 1: a benchmark that failed, or a goal that is missed by more than a fifth. */
await runProgram({
  usage: USAGE,
  parse: parseBenchArguments,
  async run(given) {
    if (!given.json)
      process.stdout.write(`Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}\n`);
    const summary = new Summary();
    for (const name of given.names) {
      if (!given.json)
        process.stdout.write(`\n${name}, others take ${await othersTake()} % of the processors\n`);
      if (!(await run(name, given, summary))) summary.fail(name);
    }
    process.stderr.write(summary.text);
    return summary.exitCode;
  },
});

/** In a process of its own, so that no benchmark inherits another one's heap and compiled code. */
async function run(name: string, { json, quick }: BenchArguments, summary: Summary): Promise<boolean> {
  const flags = ['--expose-gc', '--max-old-space-size=6144', ...process.execArgv];
  const child = spawn(process.execPath, [...flags, PROGRAM, name, quick ? 'quick' : 'full'], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    timeout: LIMIT_MS,
  });
  child.on('message', (skipped) => {
    process.stderr.write(`  SKIPPED ${String(skipped)}\n`);
    summary.skip(String(skipped));
  });
  const exited = once(child, 'exit');
  for await (const line of createInterface(child.stdout!)) {
    const row = JSON.parse(line) as Row;
    summary.note(row);
    process.stdout.write(json ? `${line}\n` : tableLine(row));
  }
  const [code] = (await exited) as [number | null];
  return code === 0;
}

/** In percent, of a second in which no benchmark runs. */
async function othersTake(): Promise<number> {
  const before = processorTimes();
  await delay(1000);
  const after = processorTimes();
  return Math.round(100 - (100 * (after.idle - before.idle)) / (after.all - before.all));
}

function processorTimes(): { readonly idle: number; readonly all: number } {
  const times = cpus().map(({ times: { idle, ...busy } }) => ({
    idle,
    all: idle + Object.values(busy).reduce((sum, one) => sum + one),
  }));
  return times.reduce((sum, one) => ({ idle: sum.idle + one.idle, all: sum.all + one.all }));
}

function tableLine({ contender, metric, value, ratio, goal, met, far }: Row): string {
  const figure = `  ${contender.padEnd(24)} ${metric.padEnd(34)} ${shown(value).padStart(12)}`;
  if (ratio === null) return `${figure}\n`;
  const verdict = met === null ? '' : met ? 'met' : far ? 'MISSED' : 'not met';
  return `${figure}  ${shown(ratio).padStart(9)}  goal ${goal}  ${verdict}\n`;
}

function shown(value: number): string {
  if (value !== 0 && Math.abs(value) < 0.01) return value.toPrecision(3);
  const digits = Math.abs(value) >= 1000 ? 0 : Math.abs(value) >= 10 ? 1 : 3;
  return value.toLocaleString('en', { maximumFractionDigits: digits });
}
