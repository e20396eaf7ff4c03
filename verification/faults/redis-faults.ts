import { setTimeout as delay } from 'node:timers/promises';
import { type Fault, fault } from './fault.js';
import { percentile } from './percentile.js';
import { rebuild } from './rebuilds.js';
import { ServerSite } from './redis-site.js';
import { SERVER_FAULTS } from './server-faults.js';
import { TIMEOUT_MS } from './timings.js';

const OUTAGE_MS = 500;
/**
 * What a guarded lookup may take longer than `timeoutMs` at the 99th percentile, where timers are in time.
 */
const OVERTIME_MS = 5;
/** Timers that run beside the lookups. */
const TIMERS = 20;
const MEBIBYTE = 1 << 20;

/** Faults of one server. */
export const redisFaults: readonly Fault[] = [
  SERVER_FAULTS.restartedEmpty('blocked', { quick: true }),
  SERVER_FAULTS.restartedOlder('blocked', { quick: true }),
  fault({
    name: 'stopped (SIGSTOP), continued',
    group: 'redis',
    quick: true,
    alone: true,
    start: () => ServerSite.start(),
    strike: async ({ site, instances, traffic, remark }) => {
      const hurried = instances.filter(({ timeoutMs }) => timeoutMs === TIMEOUT_MS);
      await site.server.kill('SIGSTOP');
      traffic.durations = new Map(hurried.map((instance) => [instance, []]));
      const timers = await timerDurations(TIMEOUT_MS, 2 * OUTAGE_MS);
      const durations = [...traffic.durations.values()].flat();
      traffic.durations = undefined;
      await site.server.kill('SIGCONT');
      const p99 = percentile(durations, 0.99);
      const [median, most] = [percentile(durations, 0.5), percentile(durations, 1)];
      remark(
        `a lookup took ${median.toFixed(1)} ms at the median, ${p99.toFixed(1)} ms at p99, ${most.toFixed(1)} ms at most`,
      );
      // The deadline, the turn in which a reply may still be read, and that of the table are late by as much
      // as any timer.
      const bound = TIMEOUT_MS + OVERTIME_MS + 3 * (percentile(timers, 0.99) - TIMEOUT_MS);
      if (p99 > bound)
        throw new Error(`Expected p99 of at most ${bound.toFixed(1)} ms, got ${p99.toFixed(1)} ms.`);
    },
  }),
  SERVER_FAULTS.stopped('blocked', { name: 'stopped (SIGSTOP) during a rebuild' }),
  fault({
    name: 'out of memory (noeviction)',
    group: 'redis',
    quick: true,
    start: () => ServerSite.start(['--maxmemory-policy', 'noeviction']),
    strike: async ({ site, instances, over }) => {
      const rebuild = instances[0].filter.rebuild().catch(() => {});
      await delay(100);
      await site.admin.config('SET', 'maxmemory', String(MEBIBYTE / 2));
      await delay(OUTAGE_MS);
      await site.admin.config('SET', 'maxmemory', '0');
      over();
      await rebuild;
    },
  }),
  fault({
    name: 'out of memory, then FLUSHALL',
    group: 'redis',
    start: () => ServerSite.start(['--maxmemory-policy', 'noeviction']),
    strike: async ({ site, instances, over }) => {
      await site.admin.config('SET', 'maxmemory', String(MEBIBYTE / 2));
      await site.admin.flushall();
      await delay(OUTAGE_MS);
      await site.admin.config('SET', 'maxmemory', '0');
      over();
      // An automatic attempt waits for minutes after one that had no memory.
      await rebuild(instances[0]);
    },
  }),
  fault({
    name: 'evicting (allkeys-lru)',
    group: 'redis',
    quick: true,
    start: () => ServerSite.start(['--maxmemory-policy', 'allkeys-lru', '--maxmemory-samples', '1']),
    strike: async ({ site, instances, over }) => {
      await site.admin.config('SET', 'maxmemory', String(4 * MEBIBYTE));
      const rebuild = instances[0].filter.rebuild().catch(() => {});
      for (const until = performance.now() + 2 * OUTAGE_MS; performance.now() < until;) {
        const key = `other:${Math.floor(Math.random() * 1e6)}`;
        await site.admin.set(key, 'x'.repeat(16 * 1024)).catch(() => {});
        await delay(1);
      }
      await site.admin.config('SET', 'maxmemory', '0');
      over();
      await rebuild;
    },
  }),
  SERVER_FAULTS.scriptsFlushed('blocked', { quick: true }),
  fault({
    name: 'password changed',
    group: 'redis',
    start: () => ServerSite.start(),
    strike: async ({ site }) => {
      await site.admin.config('SET', 'requirepass', 'another');
      await site.admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await delay(OUTAGE_MS);
      await site.admin.config('SET', 'requirepass', '');
    },
  }),
  fault({
    name: 'password of the user changed',
    group: 'redis',
    quick: true,
    start: async () => {
      const site = await ServerSite.start([], { username: 'shop', password: 'one' });
      await site.admin.call('ACL', 'SETUSER', 'shop', 'on', '>one', '~*', '+@all');
      return site;
    },
    strike: async ({ site }) => {
      await site.admin.call('ACL', 'SETUSER', 'shop', 'resetpass', '>two');
      await site.admin.call('CLIENT', 'KILL', 'USER', 'shop');
      await delay(OUTAGE_MS);
      await site.admin.call('ACL', 'SETUSER', 'shop', 'resetpass', '>one');
    },
  }),
  fault({
    name: 'ACL changed',
    group: 'redis',
    start: async () => {
      const site = await ServerSite.start([], { username: 'shop', password: 'one' });
      await site.admin.call('ACL', 'SETUSER', 'shop', 'on', '>one', '~*', '+@all');
      return site;
    },
    strike: async ({ site }) => {
      const rights = (...rules: string[]) => site.admin.call('ACL', 'SETUSER', 'shop', ...rules);
      for (const taken of ['-@scripting', '-getrange', '-setbit', '-hincrby', '-info', '-rename']) {
        await rights(taken);
        await delay(100);
        await rights('+@all');
      }
      await rights('resetkeys', '~other:*');
      await delay(OUTAGE_MS);
      await rights('~*');
    },
  }),
];

/**
 * How long timers of so many milliseconds took, one after the other in several rows: on a machine that is
 * busy they are late.
 */
async function timerDurations(ms: number, forMs: number): Promise<number[]> {
  const durations: number[] = [];
  const end = performance.now() + forMs;
  const inTurn = async () => {
    while (performance.now() < end) {
      const startedAt = performance.now();
      await delay(ms);
      durations.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: TIMERS }, inTurn));
  return durations;
}
