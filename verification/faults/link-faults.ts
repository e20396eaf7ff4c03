import { setTimeout as delay } from 'node:timers/promises';
import { type Fault, fault } from './fault.js';
import { rebuild } from './rebuilds.js';
import { ProxiedSite } from './redis-site.js';

const OUTAGE_MS = 700;

/** Faults of the network before two of three instances; the third goes on and rebuilds meanwhile. */
export const linkFaults: readonly Fault[] = [
  fault({
    name: 'connection cut',
    group: 'redis',
    quick: true,
    start: () => ProxiedSite.start(),
    strike: async ({ site, instances }) => {
      for (const proxy of site.proxies) proxy.cut();
      await Promise.all([rebuild(instances[2]), delay(OUTAGE_MS)]);
      for (const proxy of site.proxies) proxy.mend();
    },
  }),
  fault({
    name: 'connection cut during the rebuild it carries',
    group: 'redis',
    start: () => ProxiedSite.start(),
    strike: async ({ site, instances, over }) => {
      const [proxy] = site.proxies;
      const cutRebuild = instances[0].filter.rebuild().catch(() => {});
      for (let i = 0; i < 4; i++) {
        await delay(90);
        proxy.disconnect();
      }
      over();
      await cutRebuild;
      await rebuild(instances[0]);
    },
  }),
  fault({
    name: 'black hole, what was held arrives later',
    group: 'redis',
    quick: true,
    start: () => ProxiedSite.start(),
    strike: async ({ site, instances }) => {
      for (const proxy of site.proxies) proxy.hold();
      await Promise.all([rebuild(instances[2]), delay(OUTAGE_MS)]);
      for (const proxy of site.proxies) proxy.release();
    },
  }),
  fault({
    name: 'black hole before a rebuilder, another rebuilds',
    group: 'redis',
    start: () => ProxiedSite.start(),
    strike: async ({ site, instances, over }) => {
      const [proxy] = site.proxies;
      const held = instances[0].filter.rebuild().catch(() => {});
      await delay(100);
      proxy.hold();
      await rebuild(instances[2]);
      proxy.release();
      over();
      await held;
    },
  }),
  fault({
    name: 'black hole, then cut',
    group: 'redis',
    start: () => ProxiedSite.start(),
    strike: async ({ site, instances }) => {
      for (const proxy of site.proxies) proxy.hold();
      await rebuild(instances[2]);
      for (const proxy of site.proxies) proxy.disconnect();
      for (const proxy of site.proxies) proxy.release();
    },
  }),
  fault({
    name: 'reset in the middle of a reply, again and again',
    group: 'redis',
    quick: true,
    start: () => ProxiedSite.start(),
    strike: async ({ site, instances, over }) => {
      for (const proxy of site.proxies) proxy.repliesUntilReset = 15;
      const broken = instances[0].filter.rebuild().catch(() => {});
      await Promise.all([delay(OUTAGE_MS), rebuild(instances[2])]);
      for (const proxy of site.proxies) proxy.repliesUntilReset = Infinity;
      over();
      await broken;
    },
  }),
  ...[50, 500].map((delayMs) =>
    fault({
      name: `slow by ${delayMs} ms`,
      group: 'redis',
      // One of the slow ones has a deadline that lets it answer.
      start: () => ProxiedSite.start([1, 2]),
      strike: async ({ site, instances }) => {
        for (const proxy of site.proxies) proxy.delayMs = delayMs;
        await Promise.all([rebuild(instances[0]), delay(2 * OUTAGE_MS)]);
        for (const proxy of site.proxies) proxy.delayMs = 0;
      },
    }),
  ),
];
