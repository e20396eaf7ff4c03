import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { untilAnnounced, whileAnnounced } from './announced-staging.js';
import { killFeeds } from './feed-connections.js';
import { type Fault, fault, type FaultSpecification, type World } from './fault.js';
import { drainOf, FILTER } from './filter-kinds.js';
import { killed, paused } from './rebuilder-faults.js';
import { rebuild } from './rebuilds.js';
import { ServerSite } from './redis-site.js';
import { stopReader } from './stopped-reader.js';
import { COPY_LEASE_MS, TIMED_LEASE_MS } from './timings.js';

const FOR_MS = 2 * COPY_LEASE_MS;
const TIMES = 4;
/** Capacity of a filter whose copy takes more than half a second. */
const LARGE = 1_200_000;

type Specification = Omit<FaultSpecification<ServerSite>, 'group' | 'kind' | 'start'>;

function leased(specification: Specification): Fault {
  return fault({ ...specification, group: 'leased', kind: 'leased', start: () => ServerSite.start() });
}

async function removed(admin: Redis, pattern: string): Promise<void> {
  const keys = await admin.keys(pattern);
  if (keys.length > 0) await admin.del(...keys);
}

/** Strikes at the keys of the filter each time that a staging of it is announced. */
async function removedWhileAnnounced(
  { site: { admin }, instances, over }: World<ServerSite>,
  key: string,
): Promise<void> {
  for (let i = 0; i < TIMES; i++) {
    await whileAnnounced({ admin, rebuilder: instances[i % 3]! }, async () => {
      await removed(admin, `bloom:{${FILTER}}:${key}`);
      // Adds go on, and find out.
      await delay(FOR_MS);
    });
  }
  over();
}

/** The server restarts from what it had saved while a staging was announced. */
async function restartedWhileAnnounced({ site, instances }: World<ServerSite>): Promise<void> {
  await whileAnnounced({ admin: site.admin, rebuilder: instances[0] }, async () => {
    await delay(COPY_LEASE_MS);
    await site.admin.save();
    await site.server.kill();
    await site.server.restart();
  });
}

/** Readers copy a staging before it goes live, while something fails. */
export const announcedFaults: readonly Fault[] = [
  leased({
    name: 'staged blocks removed while readers copy them',
    quick: true,
    capacity: LARGE,
    strike: (world) => removedWhileAnnounced(world, 'next:*'),
  }),
  leased({
    name: 'live blocks removed while a staging is announced',
    quick: true,
    strike: (world) => removedWhileAnnounced(world, '0'),
  }),
  leased({
    name: 'metadata removed while a staging is announced',
    strike: (world) => removedWhileAnnounced(world, 'meta'),
  }),
  leased({
    name: 'list of readers removed while a staging is announced',
    strike: (world) => removedWhileAnnounced(world, 'readers'),
  }),
  killed('announced', { kind: 'leased', group: 'leased', quick: true }),
  paused('announced', { kind: 'leased', group: 'leased' }),
  leased({
    name: 'reader stopped past its lease (SIGSTOP) while it copies a staging, which goes live',
    quick: true,
    capacity: LARGE,
    copyLeaseMs: TIMED_LEASE_MS,
    strike: async ({ site, instances, copyLeaseMs, remark }) => {
      let rebuilding = Promise.resolve();
      await stopReader({
        site,
        leaseMs: copyLeaseMs,
        adder: instances[0],
        remark,
        before: async () => {
          rebuilding = rebuild(instances[1]);
          await untilAnnounced(site.admin);
          await delay(COPY_LEASE_MS / 2);
        },
        meanwhile: () => rebuilding,
      });
    },
  }),
  leased({
    name: 'feed cut (CLIENT KILL) while a staging is announced, again and again',
    strike: async ({ site: { admin }, instances, over }) => {
      for (let i = 0; i < TIMES; i++) {
        await whileAnnounced({ admin, rebuilder: instances[i % 3]! }, async () => {
          for (const until = performance.now() + FOR_MS; performance.now() < until; await delay(20))
            await killFeeds(admin);
        });
      }
      over();
    },
  }),
  leased({
    name: 'restarted from a snapshot taken while a staging was announced',
    strike: restartedWhileAnnounced,
  }),
  leased({
    name: 'restarted from a snapshot that is trusted, taken while a staging was announced',
    trustAfterFailover: true,
    strike: async (world) => {
      // What it is trusted for: it has every id that was acknowledged.
      const { adders } = world.traffic;
      world.traffic.adders = new Set();
      await delay(drainOf('leased'));
      await restartedWhileAnnounced(world);
      world.traffic.adders = adders;
      await delay(FOR_MS);
    },
  }),
];
