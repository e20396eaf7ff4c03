import { setTimeout as delay } from 'node:timers/promises';
import { type Fault, fault, type FaultSpecification } from './fault.js';
import { FILTER_KINDS, type FilterKindName } from './filter-kinds.js';
import { rebuild } from './rebuilds.js';
import { ProxiedSite, ReplicatedSite, SentinelSite, ServerSite } from './redis-site.js';

const OUTAGE_MS = 500;

type Options = Partial<Pick<FaultSpecification<ServerSite>, 'name' | 'quick' | 'isForGood'>> & {
  readonly start?: () => Promise<ServerSite>;
};

/** Those of the default layout have the first group of the table. */
function groupOf(kind: FilterKindName): Fault['group'] {
  return kind === 'blocked' ? 'redis' : kind;
}

/** Faults of the server that any kind of filter may meet. */
export const SERVER_FAULTS = {
  restartedEmpty: (kind: FilterKindName, options: Options = {}): Fault =>
    fault({
      name: 'killed, restarted empty',
      group: groupOf(kind),
      kind,
      start: () => ServerSite.start(),
      ...options,
      strike: async ({ site }) => {
        await site.server.kill();
        await delay(OUTAGE_MS);
        await site.server.restart();
      },
    }),

  restartedOlder: (kind: FilterKindName, options: Options = {}): Fault =>
    fault({
      name: 'restarted from an older snapshot',
      group: groupOf(kind),
      kind,
      start: () => ServerSite.start(),
      ...options,
      strike: async ({ site }) => {
        await site.admin.save();
        await delay(OUTAGE_MS);
        await site.server.kill();
        await site.server.restart();
      },
    }),

  scriptsFlushed: (kind: FilterKindName, options: Options = {}): Fault =>
    fault({
      name: 'SCRIPT FLUSH',
      group: groupOf(kind),
      kind,
      start: () => ServerSite.start(),
      ...options,
      strike: async ({ site, instances, over }) => {
        const rebuilding = FILTER_KINDS[kind].hasSource ? rebuild(instances[0]) : undefined;
        rebuilding?.catch(() => {});
        for (let i = 0; i < 20; i++) {
          await site.admin.script('FLUSH');
          await delay(25);
        }
        over();
        await rebuilding;
      },
    }),

  stopped: (kind: FilterKindName, options: Options = {}): Fault =>
    fault({
      name: 'stopped (SIGSTOP), continued',
      group: groupOf(kind),
      kind,
      start: () => ServerSite.start(),
      ...options,
      strike: async ({ site, instances, over }) => {
        const rebuild = FILTER_KINDS[kind].hasSource
          ? instances[0].filter.rebuild().catch(() => {})
          : undefined;
        await delay(100);
        await site.server.kill('SIGSTOP');
        await delay(2 * OUTAGE_MS);
        await site.server.kill('SIGCONT');
        over();
        await rebuild;
      },
    }),

  repliesCut: (kind: FilterKindName, quick = false, args: readonly string[] = []): Fault =>
    fault({
      name: 'reset in the middle of a reply, again and again',
      group: groupOf(kind),
      kind,
      quick,
      start: () => ProxiedSite.start([0, 1], args),
      strike: async ({ site, instances, over }) => {
        for (const proxy of site.proxies) proxy.repliesUntilReset = 15;
        const broken = FILTER_KINDS[kind].hasSource
          ? instances[0].filter.rebuild().catch(() => {})
          : undefined;
        await delay(OUTAGE_MS);
        for (const proxy of site.proxies) proxy.repliesUntilReset = Infinity;
        over();
        await broken;
      },
    }),

  held: (kind: FilterKindName): Fault =>
    fault({
      name: 'black hole, what was held arrives later',
      group: groupOf(kind),
      kind,
      start: () => ProxiedSite.start(),
      strike: async ({ site }) => {
        for (const proxy of site.proxies) proxy.hold();
        await delay(OUTAGE_MS);
        for (const proxy of site.proxies) proxy.release();
      },
    }),

  promoted: (kind: FilterKindName): Fault =>
    fault({
      name: 'replica promoted, the old master goes on',
      group: groupOf(kind),
      kind,
      start: () => ReplicatedSite.start(),
      strike: async ({ site }) => {
        await site.lag();
        await site.promote();
        site.lead(site.replica);
      },
    }),

  failedOver: (kind: FilterKindName): Fault =>
    fault({
      name: 'Sentinel failover',
      group: groupOf(kind),
      kind,
      start: () => SentinelSite.start(),
      strike: async ({ site, over }) => {
        await site.lag();
        await site.failOver();
        over();
      },
    }),
} as const;
