import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../../test/support/eventually.js';
import { type Fault, fault } from './fault.js';
import { rebuild } from './rebuilds.js';
import { adminOf, ProxiedSite } from './redis-site.js';

const OUTAGE_MS = 700;
/** After the start of a rebuild: about when it swaps, which is `DRAIN_MS + SCAN_MS` or a little more. */
const NEAR_SWAP_MS = [340, 370, 400];
const LONG_OUTAGE_MS = 10_000;

/** Neither what was staged nor what was replaced stays behind. */
async function expectOneGeneration({ server }: ProxiedSite): Promise<void> {
  const admin = adminOf(server);
  try {
    await eventually('one generation is left', async () =>
      (await admin.keys('*')).every((key) => !/:(?:next|old):/.test(key)),
    );
  } finally {
    admin.disconnect();
  }
}

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
    name: 'replies lost for ten seconds at the swap of a rebuild',
    group: 'redis',
    start: () => ProxiedSite.start(),
    strike: async ({ site, instances, over }) => {
      const [proxy] = site.proxies;
      for (const afterMs of NEAR_SWAP_MS) {
        const broken = instances[0].filter.rebuild().catch(() => {});
        await delay(afterMs);
        proxy.holdReplies();
        await delay(LONG_OUTAGE_MS);
        proxy.disconnect();
        proxy.release();
        await broken;
      }
      over();
      await rebuild(instances[0]);
      await expectOneGeneration(site);
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
