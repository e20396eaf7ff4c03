import { setTimeout as delay } from 'node:timers/promises';
import type { ManagedFilter } from '../src/service/index.js';
import { assert, type Bench, type BenchContext, median } from './harness.js';
import { idText } from './ids.js';
import { OtherProcess } from './other-process.js';
import { openFilter, redisBench, sourceOf } from './redis-bench.js';

const ADDS_PER_SECOND = 100;
const READERS = [1, 10, 50];
const LEASE_MS = 1000;

/** What readers in another process saw of absent ids. */
interface Asked {
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly perSecond: number;
  /** How many of them a second Redis was asked for. */
  readonly remotePerSecond: number;
}

interface Ground {
  readonly name: string;
  readonly filter: ManagedFilter;
  readonly readers: OtherProcess;
  readonly waits: number[];
}

/**
 * Whether leases are worth it: what an add costs with them and without, and what readers save. Adds come at a
 * fixed rate, whether those before have ended or not: a slow one delays no other.
 */
export const bench: Bench = async (context) => {
  const { report, pick } = context;
  const capacity = pick(200_000, 10_000);
  const seconds = pick(3, 0.5);
  let next = capacity;
  for (const readers of pick(READERS, [1, 3])) {
    const closing: (() => unknown)[] = [];
    const inside = { ...context, cleanUp: (work: () => unknown) => void closing.push(work) };
    try {
      const grounds: Ground[] = [];
      for (const isLeased of [false, true]) grounds.push(await ground(readers, isLeased, capacity, inside));
      // The first round warms up.
      for (let round = 0; round <= pick(3, 1); round++) {
        for (const { filter, waits } of grounds) {
          const some = await addsOf(filter, ADDS_PER_SECOND * seconds, () => idText('prod', next++));
          if (round > 0) waits.push(...some);
        }
      }
      for (const { name, waits, readers: app } of grounds) {
        waits.sort((a, b) => a - b);
        report.figure(name, 'ms an add, 100/s, median', median(waits));
        report.figure(name, 'ms an add, 100/s, 99 %', waits[Math.floor(0.99 * waits.length)]!);
        const asked = await app.ask<Asked>('ask');
        report.figure(name, 'absent ids/s', asked.perSecond);
        report.figure(name, 'absent ids/s that Redis is asked for', asked.remotePerSecond);
        report.figure(name, 'ms an absent id, median', asked.medianMs);
        report.figure(name, 'ms an absent id, 99 %', asked.p99Ms);
      }
    } finally {
      for (const work of closing.reverse()) await work();
    }
  }
};

async function addsOf(filter: ManagedFilter, count: number, nextId: () => string): Promise<number[]> {
  const waits: number[] = [];
  const add = async () => {
    const start = performance.now();
    assert(await filter.add(nextId()), 'a new id to be new');
    waits.push(performance.now() - start);
  };
  const adds: Promise<void>[] = [];
  const from = performance.now();
  for (let i = 0; i < count; i++) {
    await delay(from + (1000 * i) / ADDS_PER_SECOND - performance.now());
    adds.push(add());
  }
  await Promise.all(adds);
  return waits;
}

async function ground(
  readers: number,
  isLeased: boolean,
  capacity: number,
  context: BenchContext,
): Promise<Ground> {
  const { url } = await redisBench(context);
  const filter = await openFilter(
    url,
    {
      // Room for what is added: an id that passes already is not new.
      capacity: 2 * capacity,
      errorRate: 1e-6,
      source: sourceOf(capacity),
      replica: 'off',
      rebuild: { drainMs: 0 },
      ...(isLeased && { leaseMs: LEASE_MS }),
    },
    context,
  );
  assert((await filter.rebuild()).outcome === 'published', 'the filter to be built');
  const name = `${readers} readers, ${isLeased ? 'leased' : 'not leased'}`;
  const words = [url, String(readers), String(2 * capacity), isLeased ? 'leased' : 'verified'];
  const app = OtherProcess.start('asking-readers.ts', [...words, context.quick ? '0.5' : '2'], context);
  await app.answer();
  return { name, filter, readers: app, waits: [] };
}
