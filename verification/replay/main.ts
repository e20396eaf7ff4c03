import { Progress } from '../../sample-app/src/demo/progress.js';
import { runProgram } from '../shared/command-line.js';
import { useClient } from '../shared/redis-client.js';
import { type ReplayArguments, parseReplayArguments, USAGE } from './replay-arguments.js';
import { replay, type ReplayResult } from './replay.js';
import { replayInMemory } from './memory-replay.js';
import { generateTrace, readTrace } from './trace.js';

const REAL_TRACE_LINES = 541_909;

/** Exit code 1: a wrong absent. */
await runProgram({
  usage: USAGE,
  parse: parseReplayArguments,
  async run(given) {
    const result = await runReplay(given);
    const { unknown: _, ...figures } = result;
    process.stdout.write(given.json ? `${JSON.stringify(figures)}\n` : report(result));
    return result.wrongAbsent > 0 ? 1 : 0;
  },
});

async function runReplay(given: ReplayArguments): Promise<ReplayResult & { readonly denied?: number }> {
  const { data, limit, without, cluster, leased, memory } = given;
  useClient(given.client, without !== undefined);
  const trace = data === undefined ? generateTrace() : await readTrace(data);
  const progress = new Progress(process.stderr);
  const lines = Math.min(limit, trace.length ?? REAL_TRACE_LINES);
  progress.line(
    `Replaying ${lines.toLocaleString('en')} order lines on three instances${without ? `, without ${without}` : ''}.`,
  );
  const onProgress = (lookups: number, created: number) =>
    progress.show(`${lookups.toLocaleString('en')} lookups, ${created} products`, lookups / lines);
  if (memory) return replayInMemory({ trace, limit, onProgress });
  return replay({ trace, limit, without, cluster, leased, lines, onProgress });
}

function report(result: Awaited<ReturnType<typeof runReplay>>): string {
  const rows: [string, number][] = [
    ['lookups', result.lookups],
    ['products created', result.created],
    ['rebuilds finished', result.rebuilds],
    ['rebuilds skipped', result.skipped],
    ['wrong absents', result.wrongAbsent],
    ['false positives', result.falsePositives],
    ['asked too early', result.unknown],
    ['instances', result.instances],
    ['answered by copies', result.fromCopies],
    ['seconds', result.seconds],
  ];
  if (result.denied !== undefined) rows.push(['denied ids of no row', result.denied]);
  if (result.slotsMoved !== undefined) rows.push(['slots moved', result.slotsMoved]);
  if (result.failovers !== undefined) rows.push(['failovers', result.failovers]);
  return `${rows.map(([name, value]) => `${name.padEnd(20)}${value.toLocaleString('en').padStart(10)}`).join('\n')}\n`;
}
