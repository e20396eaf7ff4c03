import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { watch } from '../../test/support/redis-server.js';
import { type Fault, fault } from './fault.js';
import { rebuild } from './rebuilds.js';
import { ServerSite } from './redis-site.js';

const BUSY_PER_CORE = 4;
const SATURATED_MS = 10_000;

/** The machine has no time, for Redis as little as for the instances. */
export const saturationFaults: readonly Fault[] = [saturated('redis'), saturated('leased')];

/** @param group where copies are leased, ids that are absent need no reply within a deadline */
function saturated(group: 'redis' | 'leased'): Fault {
  return fault({
    name: 'machine saturated (4 busy processes a core)',
    group,
    kind: group === 'leased' ? 'leased' : 'blocked',
    alone: true,
    start: () => ServerSite.start(),
    strike: async ({ instances, traffic, over, remark }) => {
      const busy = Array.from({ length: BUSY_PER_CORE * availableParallelism() }, keepBusy);
      try {
        await delay(SATURATED_MS / 10);
        const { asked, letThrough } = traffic.probes;
        const rebuilding = rebuild(instances[0]).catch(() => {});
        await delay(SATURATED_MS);
        const all = traffic.probes.asked - asked;
        const passed = traffic.probes.letThrough - letThrough;
        remark(
          `${passed} of ${all} lookups of absent ids were let through (${((100 * passed) / all).toFixed(2)} %)`,
        );
        await rebuilding;
      } finally {
        await Promise.all(busy.map(end));
        over();
      }
    },
  });
}

function keepBusy(): ChildProcess {
  const child = spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' });
  watch(child);
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
