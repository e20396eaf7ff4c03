import type { Redis } from 'ioredis';
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { assert, type Bench, type BenchContext, Comparison, type Contender, median } from './harness.js';
import { idText } from './ids.js';
import { OtherProcess } from './other-process.js';
import {
  clientOf,
  coveredFilter,
  openFilter,
  orderedId,
  redisBench,
  serverTime,
  sourceOf,
} from './redis-bench.js';

const ADDS_PER_SECOND = 100;
/**
 * One after the other, before anything is measured: at 100 a second it takes minutes until adder and readers
 * run compiled code, as a service does.
 */
const WARMING_ADDS = 5000;
/** Times that all servers and processes are started. */
const SETS = 3;
const METRIC = 'ms an add, 100/s, median';
const SERVER_METRIC = 'µs of the server an add';
const WITHOUT = 'without leases';
/** At most so many times the median of an add without leases. */
const GOALS: ReadonlyMap<number, number> = new Map([
  [1, 2],
  [10, 3],
  [50, 6],
]);
const COVERED_READERS = 50;
const SERVER_GOAL = { readers: 10, atMost: 3 };
/** What an add is at least for the server: a block is read and written, and readers are told. */
const LEAST_ADD = `local block = redis.call('GETRANGE', KEYS[1], 0, 255)
redis.call('SETRANGE', KEYS[1], 0, block)
redis.call('PUBLISH', 'entries', ARGV[1])`;
/** As long as the entry of an add. */
const ENTRY = 'x'.repeat(40);

/** What was measured in all rounds. */
interface Adds {
  /** Time of each add, in milliseconds. */
  readonly waits: number[];
  /** Time of the server for an add, in microseconds, in each round. */
  readonly micros: number[];
}

/**
 * Adds to filters that 1, 10 and 50 readers with leases have copies of, each beside a filter that nobody
 * reads so.
 */
export const bench: Bench = async (context) => {
  for (const readers of GOALS.keys()) await compare(readers, context);
  await compareCovered(context);
};

/** Copies of a covered filter are told nothing. */
async function compareCovered(context: BenchContext): Promise<void> {
  const name = `${COVERED_READERS} readers, covered`;
  const to = 'covered, no readers';
  const some: Adds = { waits: [], micros: [] };
  const contenders = [
    await contender({ readers: 0, name: to, isCovered: true }, some, context),
    await contender({ readers: COVERED_READERS, name, isCovered: true }, some, context),
  ];
  const result = await Comparison.run(contenders, context.pick(2 * SETS, 1));
  result.reportOthers(context.report, METRIC, [name]);
  result.expectTimes(context.report, { ours: name, metric: METRIC, to, atMost: 1.1 });
}

async function compare(readers: number, context: BenchContext): Promise<void> {
  const { report, pick } = context;
  const name = `${readers} readers`;
  const results: Comparison[] = [];
  const to = `${WITHOUT} (${readers})`;
  const without: Adds = { waits: [], micros: [] };
  const withReaders: Adds = { waits: [], micros: [] };
  // Which processes share a core, and where in memory they are, makes more of a difference than anything
  // else. So all of them are started anew.
  for (let set = 0; set < pick(SETS, 1); set++) {
    const closing: (() => unknown)[] = [];
    const inside = { ...context, cleanUp: (work: () => unknown) => void closing.push(work) };
    try {
      const contenders = [
        await contender({ readers: 0, name: to }, without, inside),
        await contender({ readers, name }, withReaders, inside),
        await limit(readers, inside),
      ];
      results.push(await Comparison.run(contenders, pick(2, 1)));
    } finally {
      for (const work of closing.reverse()) await work();
    }
  }
  const result = Comparison.joined(results);
  result.reportOthers(report, METRIC, [name]);
  result.expectTimes(report, { ours: name, metric: METRIC, to, atMost: GOALS.get(readers)! });
  report.figure(limitOf(readers), `× ${WITHOUT}`, result.ratio(limitOf(readers), to));
  for (const [of, { waits }] of [
    [to, without],
    [name, withReaders],
  ] as const) {
    waits.sort((one, other) => one - other);
    report.figure(of, 'ms an add, 99 %', waits[Math.floor(0.99 * waits.length)]!);
  }
  report.figure(to, SERVER_METRIC, median(without.micros));
  const server = { contender: name, metric: SERVER_METRIC, value: median(withReaders.micros) };
  if (readers !== SERVER_GOAL.readers) return report.figure(name, SERVER_METRIC, server.value);
  // Those of a round are compared.
  const ratio = median(withReaders.micros.map((micros, round) => micros / without.micros[round]!));
  report.goal({ ...server, ratio, atMost: SERVER_GOAL.atMost, of: `× ${WITHOUT}` });
}

/** So many adds, 100 a second: how long each took. */
async function inTurn(count: number, add: () => Promise<unknown>): Promise<number[]> {
  const waits: number[] = [];
  const from = performance.now();
  for (let i = 0; i < count; i++) {
    await delay(from + (1000 * i) / ADDS_PER_SECOND - performance.now());
    const start = performance.now();
    await add();
    waits.push(performance.now() - start);
  }
  return waits;
}

/**
 * Readers that do nothing but answer, and an add that does nothing but wait for the last of their answers.
 */
async function limit(readers: number, context: BenchContext): Promise<Contender> {
  const { url, client } = await redisBench(context);
  const answers = clientOf(url, context);
  let heard = () => {};
  let unheard = 0;
  await answers.subscribe('answered');
  answers.on('messageBuffer', () => --unheard === 0 && heard());
  await client.setrange('block', 255, '.');
  const processes = await startReaders('bare-readers.ts', readers, [url], context);
  const sha1 = (await client.script('LOAD', LEAST_ADD)) as string;
  const add = async () => {
    const answered = new Promise<void>((resolve) => (heard = resolve));
    unheard = processes;
    await client.evalsha(sha1, 1, 'block', ENTRY);
    await answered;
  };
  const count = ADDS_PER_SECOND * secondsOf(context);
  return { name: limitOf(readers), measure: async () => median(await inTurn(count, add)) };
}

/** Adds to a filter on a server of its own. */
async function contender(
  { readers, name, isCovered = false }: { readers: number; name: string; isCovered?: boolean },
  { waits, micros }: Adds,
  context: BenchContext,
): Promise<Contender> {
  const { pick } = context;
  const capacity = pick(1_000_000, 20_000);
  const { url, client } = await redisBench(context);
  const source = sourceOf(capacity);
  const leased = readers > 0 ? { leaseMs: 1000 } : {};
  const options = { capacity, source, replica: 'off', rebuild: { drainMs: 0 }, ...leased } as const;
  const filter = isCovered
    ? await coveredFilter(url, capacity, context)
    : await openFilter(url, options, context);
  if (!isCovered) assert((await filter.rebuild()).outcome === 'published', 'the filter to be built');
  const words = [url, String(capacity), ...(isCovered ? ['covered'] : [])];
  await startReaders('reader-app.ts', readers, words, context);
  let next = capacity;
  const add = () => filter.add(isCovered ? orderedId(next++) : idText('prod', next++));
  for (let i = 0; i < pick(WARMING_ADDS, 50); i++) await add();
  const seconds = secondsOf(context);
  // Renewals of leases.
  const idle = await serverMicros(client, () => delay(1000 * seconds));
  let isWarm = false;
  const measure = async () => {
    const count = ADDS_PER_SECOND * seconds;
    let some: number[] = [];
    const all = await serverMicros(client, async () => (some = await inTurn(count, add)));
    if (isWarm) {
      micros.push((all - idle) / count);
      waits.push(...some);
    }
    isWarm = true;
    return median(some);
  };
  return { name, measure };
}

function secondsOf({ pick }: BenchContext): number {
  return pick(3, 1);
}

function limitOf(readers: number): string {
  return `limit: ${readers} readers`;
}

/**
 * In use each reader is a process, on a core that it need not share with all the others. Here they are as
 * many processes as there are cores.
 *
 * @returns how many.
 */
async function startReaders(
  program: string,
  readers: number,
  words: readonly string[],
  context: BenchContext,
): Promise<number> {
  const processes = Math.min(readers, availableParallelism());
  for (let i = 0; i < processes; i++) {
    const share = Math.floor((readers + i) / processes);
    await OtherProcess.start(program, [String(share), String(i), ...words], context).answer();
  }
  return processes;
}

/** Time that the server spent in what clients sent. */
async function serverMicros(client: Redis, work: () => Promise<unknown>): Promise<number> {
  await client.config('RESETSTAT');
  await work();
  return (await serverTime(client, 'evalsha')).micros;
}
