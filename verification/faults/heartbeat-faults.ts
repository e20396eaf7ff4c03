import { setTimeout as delay } from 'node:timers/promises';
import type { BloomGuardMode } from 'nestjs-bloom';
import { eventually } from '../../test/support/eventually.js';
import { type Fault, fault, type World } from './fault.js';
import { FILTER } from './filter-kinds.js';
import { RebuilderProcess } from './rebuilder-process.js';
import { rebuild } from './rebuilds.js';
import { ProxiedSite, type RedisSite, ServerSite } from './redis-site.js';

/** Some beats, which are sent once a second. */
const BEATS_MS = 2500;

type Instances = World<RedisSite>['instances'];

async function setMode(instances: Instances, mode: BloomGuardMode): Promise<void> {
  await instances[2].bloom.setMode(FILTER, mode, { by: 'the fault' });
  await eventually('all instances hear the mode', () => areIn(instances, mode));
}

function areIn(instances: Instances, mode: BloomGuardMode): boolean {
  return instances.every(({ filter }) => filter.guarding.mode === mode);
}

async function known({ bloom }: Instances[number]): Promise<number[]> {
  return (await bloom.instances(FILTER)).instances.map(({ pid }) => pid);
}

function expectMode(instances: Instances, mode: BloomGuardMode): void {
  if (!areIn(instances, mode)) throw new Error(`Expected every instance to stay in mode '${mode}'.`);
}

/**
 * Faults while processes report to each other: lookups are not to feel them, and the mode of all is to stay
 * as it was.
 */
export const heartbeatFaults: readonly Fault[] = [
  fault({
    name: 'heartbeats into a black hole',
    group: 'redis',
    start: () => ProxiedSite.start(),
    strike: async ({ site, instances }) => {
      await setMode(instances, 'on');
      for (const proxy of site.proxies) proxy.hold();
      await Promise.all([rebuild(instances[2]), delay(BEATS_MS)]);
      expectMode(instances, 'on');
      for (const proxy of site.proxies) proxy.release();
      await eventually('all are seen again', async () => (await known(instances[0])).length === 3);
    },
  }),
  fault({
    name: 'heartbeats to a stopped server (SIGSTOP)',
    group: 'redis',
    start: () => ServerSite.start(),
    strike: async ({ site, instances }) => {
      await setMode(instances, 'on');
      await site.server.kill('SIGSTOP');
      await delay(BEATS_MS);
      expectMode(instances, 'on');
      await site.server.kill('SIGCONT');
      await eventually('all are seen again', async () => (await known(instances[0])).length === 3);
    },
  }),
  fault({
    name: 'off and on everywhere, the server restarts empty in between',
    group: 'redis',
    start: () => ServerSite.start(),
    strike: async ({ site, instances }) => {
      await setMode(instances, 'off');
      await site.server.restart();
      const mode = async () => (await instances[0].bloom.instances(FILTER)).mode?.mode;
      await eventually('the record is there again', async () => (await mode().catch(() => '')) === 'off');
      expectMode(instances, 'off');
      await setMode(instances, 'on');
    },
  }),
  fault({
    name: 'a process that reports is killed (SIGKILL)',
    group: 'redis',
    start: () => ServerSite.start(),
    strike: async ({ site, instances, table, capacity, kind, without, over, remark }) => {
      // It is never told to rebuild.
      const stop = { at: 'release', how: 'wait' } as const;
      const options = { redisUrl: site.server.url, capacity, kind, without, stop };
      const other = await RebuilderProcess.start(table, options);
      try {
        const sees = async () => (await known(instances[0])).some((pid) => pid !== process.pid);
        await eventually('the process is seen', sees);
        other.signal('SIGKILL');
        await other.exited();
        over();
        const from = performance.now();
        await eventually('it is forgotten', async () => !(await sees()));
        remark(`the process was forgotten after ${((performance.now() - from) / 1000).toFixed(1)} s`);
      } finally {
        await other.stop();
      }
    },
  }),
];
