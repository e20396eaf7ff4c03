import { BusyProcesses } from '../test/support/busy-processes.js';
import { type Bench, type BenchContext, assert } from './harness.js';
import { OtherProcess } from './other-process.js';
import { redisBench } from './redis-bench.js';
import type { AttackSeen } from './saturated-app.js';

const INSTANCES = 3;
const PRODUCTS = 100_000;
/** The filter in `saturated-app.ts`. */
const ERROR_RATE = 0.001;

/** Three instances under attack, on a machine that has the time for it and on one that has not. */
export const bench: Bench = async (context) => {
  const { url } = await redisBench(context);
  const start = (replica: string, from: number) =>
    Array.from({ length: INSTANCES }, (_, i) =>
      OtherProcess.start('saturated-app.ts', [url, String(PRODUCTS), String(from + i), replica], context, {
        hasSession: true,
      }),
    );
  // One after the other: those of one kind are at rest while the others are attacked.
  const kinds = [
    { name: 'verified', instances: start('verified', 0) },
    { name: 'leased', instances: start('leased', INSTANCES) },
  ];
  for (const { instances } of kinds) await Promise.all(instances.map((instance) => instance.answer()));
  const { outcome } = await kinds[0]!.instances[0]!.ask<{ outcome: string }>('build');
  assert(outcome === 'published', 'the filter to be built');
  for (const { name, instances } of kinds) {
    await Promise.all(instances.map((instance) => instance.ask('ready')));
    await attack(instances, context.pick(5, 1));
    report(context, `${name}, idle`, await attack(instances, context.pick(20, 1)));
  }
  const busy = await BusyProcesses.start();
  context.cleanUp(() => busy.stop());
  for (const { name, instances } of kinds) {
    const seen = await attack(instances, context.pick(60, 1));
    report(context, `${name}, saturated`, seen);
    if (name === 'leased') expectProtected(context, seen);
  }
};

interface Seen extends AttackSeen {
  readonly seconds: number;
}

async function attack(instances: readonly OtherProcess[], seconds: number): Promise<Seen> {
  const seen = await Promise.all(instances.map((instance) => instance.ask<AttackSeen>(String(seconds))));
  const unknown: Record<string, number> = {};
  for (const [reason, count] of seen.flatMap((one) => Object.entries(one.unknown)))
    unknown[reason] = (unknown[reason] ?? 0) + count;
  return { calls: sum(seen, 'calls'), queries: sum(seen, 'queries'), unknown, seconds };
}

function report({ report }: BenchContext, machine: string, { calls, queries, unknown, seconds }: Seen): void {
  assert(queries < calls / 2, 'the guard to hold most of the attack off');
  report.figure(machine, 'calls/s', calls / seconds);
  report.figure(machine, 'let through, %', (100 * queries) / calls);
  for (const [reason, count] of Object.entries(unknown))
    if (count > 0) report.figure(machine, `unknown (${reason}), %`, (100 * count) / calls);
}

function expectProtected({ report }: BenchContext, { calls, queries }: Seen): void {
  const ratio = queries / calls / ERROR_RATE;
  report.goal({
    contender: 'leased, saturated',
    metric: 'let through',
    value: queries,
    ratio,
    atMost: 1.5,
    of: 'the error rate',
  });
}

function sum(seen: readonly AttackSeen[], figure: 'calls' | 'queries'): number {
  return seen.reduce((total, one) => total + one[figure], 0);
}
