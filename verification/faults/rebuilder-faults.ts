import { setTimeout as delay } from 'node:timers/promises';
import { type Fault, fault, type World } from './fault.js';
import type { FilterKindName } from './filter-kinds.js';
import { RebuilderProcess } from './rebuilder-process.js';
import { type RebuilderOptions, type Step, STEPS } from './rebuilder-protocol.js';
import { rebuild } from './rebuilds.js';
import { ServerSite } from './redis-site.js';
import { LEASE_MS } from './timings.js';

const QUICK: readonly Step[] = ['publish', 'scan', 'swap'];
/**
 * Before these its generation is live already, or its lease is not yet taken: it ends as if nothing had been.
 */
const MAY_PUBLISH: readonly Step[] = ['lease', 'swap, its reply unread', 'clean-up', 'release'];

async function withRebuilder(
  { site, table, capacity, kind, without }: World<ServerSite>,
  stop: RebuilderOptions['stop'],
  work: (rebuilder: RebuilderProcess) => Promise<void>,
): Promise<void> {
  const rebuilder = await RebuilderProcess.start(table, {
    redisUrl: site.server.url,
    capacity,
    kind,
    without,
    stop,
  });
  try {
    await rebuilder.runToStep();
    await work(rebuilder);
  } finally {
    await rebuilder.stop();
  }
}

export interface RebuilderFaultOptions {
  readonly kind?: FilterKindName;
  readonly group?: Fault['group'];
  readonly quick?: boolean;
  readonly start?: () => Promise<ServerSite>;
}

/** A rebuilder is killed at a step, and another process rebuilds. */
export function killed(
  at: Step,
  { group = 'rebuild', start = startServer, ...others }: RebuilderFaultOptions = {},
): Fault {
  return fault({
    name: `killed (SIGKILL) at: ${at}`,
    group,
    start,
    ...others,
    strike: (world) =>
      withRebuilder(world, { at, how: 'SIGKILL' }, async (rebuilder) => {
        await rebuilder.exited();
        world.over();
        await rebuild(world.instances[0]);
      }),
  });
}

/** A rebuilder stands still at a step until another process has rebuilt. */
export function paused(
  at: Step,
  { group = 'rebuild', start = startServer, ...others }: RebuilderFaultOptions = {},
): Fault {
  return fault({
    name: `paused past its lease at: ${at}`,
    group,
    start,
    ...others,
    strike: (world) =>
      withRebuilder(world, { at, how: 'SIGSTOP' }, async (rebuilder) => {
        await delay(LEASE_MS);
        await rebuild(world.instances[0]);
        rebuilder.signal('SIGCONT');
        const outcome = await rebuilder.outcome();
        world.over();
        world.remark(`it ended: ${outcome}`);
        if (outcome === 'published' && !MAY_PUBLISH.includes(at))
          throw new Error('A rebuild was published after its lease was lost.');
      }),
  });
}

function startServer(): Promise<ServerSite> {
  return ServerSite.start();
}

/** Faults of a process that rebuilds, beside three that look up and add. */
export const rebuilderFaults: readonly Fault[] = [
  ...STEPS.map((at) => killed(at, { quick: QUICK.includes(at) })),
  ...STEPS.map((at) => paused(at, { quick: QUICK.includes(at) })),
  fault({
    name: 'paused past its lease at: scan, nobody else',
    group: 'rebuild',
    start: () => ServerSite.start(),
    strike: (world) =>
      withRebuilder(world, { at: 'scan', how: 'SIGSTOP' }, async (rebuilder) => {
        await delay(2 * LEASE_MS);
        rebuilder.signal('SIGCONT');
        const outcome = await rebuilder.outcome();
        world.over();
        world.remark(`it ended: ${outcome}`);
        if (outcome === 'published') throw new Error('A rebuild was published after its lease was lost.');
      }),
  }),
  fault({
    name: 'process shut down (SIGTERM) in the middle',
    group: 'rebuild',
    quick: true,
    start: () => ServerSite.start(),
    strike: (world) =>
      withRebuilder(world, { at: 'scan', how: 'wait' }, async (rebuilder) => {
        rebuilder.signal('SIGTERM');
        await rebuilder.exited();
        world.over();
        // The lease was given back: it need not expire.
        const next = await world.instances[0].filter.rebuild().catch(() => undefined);
        if (next?.outcome === 'skipped') throw new Error(`The lease was kept: ${next.reason}`);
        // It had the lease, and lost it on a machine that is busy.
        if (!next) await rebuild(world.instances[0]);
      }),
  }),
];
