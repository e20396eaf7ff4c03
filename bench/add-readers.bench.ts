import type { Redis } from 'ioredis';
import { setTimeout as delay } from 'node:timers/promises';
import type { ManagedFilter } from '../src/service/index.js';
import { assert, type Bench, type BenchContext, Comparison, median } from './harness.js';
import { idText } from './ids.js';
import { OtherProcess } from './other-process.js';
import { openFilter, redisBench, serverTime, sourceOf } from './redis-bench.js';

const ADDS_PER_SECOND = 100;
const METRIC = 'ms an add, 100/s, median';
const WITHOUT = 'without leases';
/** At most so many times the median of an add without leases. */
const GOALS: ReadonlyMap<number, number> = new Map([
  [1, 2],
  [10, 3],
  [50, 6],
]);
const SERVER_GOAL = { readers: 10, atMost: 3 };

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
  const adds = async ({ filter, waits }: Ground): Promise<number[]> => {
    const some: number[] = [];
    const from = performance.now();
    for (let i = 0; i < ADDS_PER_SECOND * seconds; i++) {
      await delay(from + (1000 * i) / ADDS_PER_SECOND - performance.now());
      const start = performance.now();
      await filter.add(idText('prod', next++));
      some.push(performance.now() - start);
    }
    waits.push(...some);
    return some;
  };
  const result = await Comparison.run(
    grounds.map((one) => ({ name: one.name, measure: async () => median(await adds(one)) })),
    pick(5, 1),
  );
  result.reportOthers(
    report,
    METRIC,
    grounds.slice(1).map(({ name }) => name),
  );
  for (const { name, readers } of grounds.slice(1))
    result.expectTimes(report, { ours: name, metric: METRIC, to: WITHOUT, atMost: GOALS.get(readers)! });
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
  if (readers > 0) {
    const app = OtherProcess.start('reader-app.ts', [url, String(readers), String(capacity)], context);
    await app.answer();
  }
  return { name, readers, filter, client, waits: [] };
}

/** Time that the server spent in what clients sent. */
async function serverMicros(client: Redis, work: () => Promise<unknown>): Promise<number> {
  await client.config('RESETSTAT');
  await work();
  // What a script does by these commands counts twice, which is little.
  const commands = ['evalsha', 'xread', 'zadd', 'zcount'];
  const times = await Promise.all(commands.map((command) => serverTime(client, command)));
  return times.reduce((sum, { micros }) => sum + micros, 0);
}
