import type { Redis } from 'ioredis';
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { ManagedFilter } from '../src/service/index.js';
import { assert, type Bench, type BenchContext, Comparison, type Contender, median } from './harness.js';
import { idText } from './ids.js';
import { OtherProcess } from './other-process.js';
import { clientOf, openFilter, redisBench, serverTime, sourceOf } from './redis-bench.js';

const ADDS_PER_SECOND = 100;
/** One after the other, before anything is measured: at 100 a second it takes minutes until adder and readers run compiled code, as a service does. */
const WARMING_ADDS = 5000;
const METRIC = 'ms an add, 100/s, median';
const WITHOUT = 'without leases';
/** At most so many times the median of an add without leases. */
const GOALS: ReadonlyMap<number, number> = new Map([
  [1, 2],
  [10, 3],
  [50, 6],
]);
const SERVER_GOAL = { readers: 10, atMost: 3 };
/** What an add is at least for the server: a block is read and written, and readers are told. */
const LEAST_ADD = `local block = redis.call('GETRANGE', KEYS[1], 0, 255)
redis.call('SETRANGE', KEYS[1], 0, block)
redis.call('PUBLISH', 'entries', ARGV[1])`;
/** As long as the entry of an add. */
const ENTRY = 'x'.repeat(40);

interface Ground {
  readonly name: string;
  readonly readers: number;
  readonly filter: ManagedFilter;
  readonly client: Redis;
  readonly waits: number[];
}

/** Adds to filters that 0, 1, 10 and 50 readers with leases have copies of, each on a server of its own. */
export const bench: Bench = async (context) => {
  const { report, pick } = context;
  const capacity = pick(1_000_000, 20_000);
  const seconds = pick(4, 1);
  const grounds: Ground[] = [await ground(0, WITHOUT, capacity, context)];
  for (const readers of GOALS.keys())
    grounds.push(await ground(readers, `${readers} readers`, capacity, context));
  let next = capacity;
  for (const { filter } of grounds)
    for (let i = 0; i < pick(WARMING_ADDS, 50); i++) await filter.add(idText('prod', next++));
  const adds = async ({ filter, waits }: Ground): Promise<number[]> => {
    const some = await inTurn(ADDS_PER_SECOND * seconds, () => filter.add(idText('prod', next++)));
    waits.push(...some);
    return some;
  };
  const contenders = grounds.map((one) => ({ name: one.name, measure: async () => median(await adds(one)) }));
  const limits: Contender[] = [];
  for (const readers of GOALS.keys()) limits.push(await limit(readers, ADDS_PER_SECOND * seconds, context));
  const result = await Comparison.run([...contenders, ...limits], pick(5, 1));
  result.reportOthers(
    report,
    METRIC,
    grounds.slice(1).map(({ name }) => name),
  );
  for (const { name, readers } of grounds.slice(1))
    result.expectTimes(report, { ours: name, metric: METRIC, to: WITHOUT, atMost: GOALS.get(readers)! });
  for (const { name } of limits) report.figure(name, `× ${WITHOUT}`, result.ratio(name, WITHOUT));
  for (const { name, waits } of grounds) {
    waits.sort((a, b) => a - b);
    report.figure(name, 'ms an add, 99 %', waits[Math.floor(0.99 * waits.length)]!);
  }

  const micros = new Map<number, number>();
  for (const one of grounds) {
    const idle = await serverMicros(one.client, () => delay(1000 * seconds));
    const busy = await serverMicros(one.client, () => adds(one));
    const each = (busy - idle) / (ADDS_PER_SECOND * seconds);
    micros.set(one.readers, each);
    report.figure(one.name, 'µs of the server an add', each);
  }
  const { readers, atMost } = SERVER_GOAL;
  report.goal({
    contender: `${readers} readers`,
    metric: 'µs of the server an add',
    value: micros.get(readers)!,
    ratio: micros.get(readers)! / micros.get(0)!,
    atMost,
    of: `× ${WITHOUT}`,
  });
};

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

/** Readers that do nothing but answer, and an add that does nothing but wait for the last of their answers. */
async function limit(readers: number, count: number, context: BenchContext): Promise<Contender> {
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
  return { name: `limit: ${readers} readers`, measure: async () => median(await inTurn(count, add)) };
}

async function ground(
  readers: number,
  name: string,
  capacity: number,
  context: BenchContext,
): Promise<Ground> {
  const { url, client } = await redisBench(context);
  const filter = await openFilter(
    url,
    {
      capacity,
      source: sourceOf(capacity),
      replica: 'off',
      rebuild: { drainMs: 0 },
      ...(readers > 0 && { leaseMs: 1000 }),
    },
    context,
  );
  assert((await filter.rebuild()).outcome === 'published', 'the filter to be built');
  await startReaders('reader-app.ts', readers, [url, String(capacity)], context);
  return { name, readers, filter, client, waits: [] };
}

/**
 * In use each reader is a process, on a core that it need not share with all the others. Here they are as many processes as there are cores.
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
