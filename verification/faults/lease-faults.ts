import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { eventually } from '../../test/support/eventually.js';
import { type Fault, fault, type World } from './fault.js';
import { FILTER, FILTER_KINDS } from './filter-kinds.js';
import {
  adminOf,
  ProxiedSite,
  type RedisSite,
  ReplicatedSite,
  SentinelSite,
  ServerSite,
} from './redis-site.js';
import { readInBatches } from './shop-database.js';
import { WRITE_TIMEOUT_MS } from './timings.js';

/** As by default: a lease that nobody holds, and that blocks the others, is seen. */
const LEASE_MS = 30_000;
/** Two seconds on a machine that is not busy. */
const BACK_WITHIN_MS = LEASE_MS / 2;
const LEASE = `bloom:{${FILTER}}:lease`;
const EVERY_MS = 1_000;
const COUNTED_MS = 5_000;

/** From now on the instances have to rebuild. */
async function lose(admin: Redis): Promise<void> {
  await admin.del(FILTER_KINDS.blocked.live);
}

/** A rebuild of the first instance that stands still while it reads the source, until `work` has ended. */
async function whileReading(
  { table, instances }: World<RedisSite>,
  work: () => Promise<void>,
): Promise<void> {
  const sound = table.reading;
  let goOn = () => {};
  const mayGoOn = new Promise<void>((resolve) => (goOn = resolve));
  const isReading = new Promise<void>((resolve) => {
    table.reading = async function* (ids) {
      resolve();
      await mayGoOn;
      yield* readInBatches(ids);
    };
  });
  let isRead = false;
  void isReading.then(() => (isRead = true));
  let rebuilt: Promise<unknown> = Promise.resolve();
  // On a machine that is busy one may lose its lease before it reads.
  await eventually('the source is read', async () => {
    if (isRead) return true;
    rebuilt = instances[0].filter.rebuild().catch(() => {});
    await Promise.race([isReading, rebuilt]);
    return isRead;
  });
  table.reading = sound;
  await work();
  goOn();
  await rebuilt;
}

/** The lease has reached the replica which takes over, and its release has not. */
async function takenOver<Site extends ReplicatedSite>(
  world: World<Site>,
  promote: (site: Site) => Promise<void>,
): Promise<void> {
  const { site, remark } = world;
  await whileReading(world, async () => {
    await eventually(
      'the lease has reached the replica',
      async () => (await site.replicaAdmin.exists(LEASE)) === 1,
    );
    site.link.hold();
  });
  if ((await site.masterAdmin.exists(LEASE)) === 1) throw new Error('The lease was not given back.');
  await promote(site);
  remark(`the new master had a lease of ${await site.replicaAdmin.pttl(LEASE)} ms`);
}

/** Leases that nobody holds, and how often several instances read the source. */
export const leaseFaults: readonly Fault[] = [
  fault({
    name: 'lease asked for in vain while stopped, then lost',
    group: 'rebuild',
    quick: true,
    leaseMs: LEASE_MS,
    backWithinMs: BACK_WITHIN_MS,
    start: () => ServerSite.start(),
    strike: async ({ site, instances, over }) => {
      await site.server.kill('SIGSTOP');
      const asked = await instances[0].filter.rebuild().catch(String);
      await delay(WRITE_TIMEOUT_MS);
      await site.server.kill('SIGCONT');
      if (typeof asked !== 'string') throw new Error('A stopped server gave a lease.');
      over();
      await lose(site.admin);
    },
  }),
  fault({
    name: 'lease not given back while cut, then lost',
    group: 'rebuild',
    leaseMs: LEASE_MS,
    backWithinMs: BACK_WITHIN_MS,
    start: () => ProxiedSite.start(),
    strike: async (world) => {
      const { site, over } = world;
      const admin = adminOf(site.server);
      try {
        await whileReading(world, async () => site.proxies[0].cut());
        if ((await admin.exists(LEASE)) === 0) throw new Error('The lease was given back.');
        site.proxies[0].mend();
        over();
        await lose(admin);
      } finally {
        admin.disconnect();
      }
    },
  }),
  fault({
    name: 'replica promoted with a lease given back',
    group: 'rebuild',
    quick: true,
    leaseMs: LEASE_MS,
    backWithinMs: BACK_WITHIN_MS,
    start: () => ReplicatedSite.start(),
    strike: (world) =>
      takenOver(world, async (site) => {
        await site.promote();
        await site.master.kill();
        world.over();
        site.lead(site.replica);
      }),
  }),
  fault({
    name: 'Sentinel failover with a lease given back',
    group: 'rebuild',
    leaseMs: LEASE_MS,
    backWithinMs: BACK_WITHIN_MS,
    start: () => SentinelSite.start(),
    strike: (world) =>
      takenOver(world, async (site) => {
        await site.failOver();
        world.over();
      }),
  }),
  fault({
    name: 'three instances with everyMs scan as one',
    group: 'rebuild',
    everyMs: EVERY_MS,
    start: () => ServerSite.start(),
    strike: async ({ table, remark }) => {
      const [before, since] = [table.scans, performance.now()];
      await delay(COUNTED_MS);
      const scans = table.scans - before;
      const ms = performance.now() - since;
      remark(`${scans} scans in ${Math.round(ms)} ms`);
      if (scans < 2 || scans > ms / EVERY_MS + 1) throw new Error(`Got ${scans} scans.`);
    },
  }),
  fault({
    name: 'lost, database down: three instances scan as one',
    group: 'rebuild',
    start: () => ServerSite.start(),
    strike: async ({ site, table, remark }) => {
      table.isDown = true;
      const [before, since] = [table.scans, performance.now()];
      await lose(site.admin);
      // One would scan after about 0, 1 and 3 seconds.
      await delay(COUNTED_MS);
      const scans = table.scans - before;
      const ms = performance.now() - since;
      table.isDown = false;
      remark(`${scans} scans in ${Math.round(ms)} ms`);
      if (scans < 1 || scans > Math.log2(ms / 1000 + 1) + 2) throw new Error(`Got ${scans} scans.`);
    },
  }),
];
