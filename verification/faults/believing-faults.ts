import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { eventually } from '../../test/support/eventually.js';
import { replaceBelieved } from './believing-readers.js';
import { type Fault, fault, type FaultSpecification, type World } from './fault.js';
import { CAPACITY } from './filter-kinds.js';
import { adminOf, ProxiedSite, type RedisSite, ReplicatedSite, SentinelSite } from './redis-site.js';
import type { TcpProxy } from '../../test/support/tcp-proxy.js';
import type { ShopDatabase } from './shop-database.js';
import { ShopInstance } from './shop-instance.js';
import { LAG_MS, PATIENT_TIMEOUT_MS, WRITE_TIMEOUT_MS } from './timings.js';

/** Readers believe in it for three quarters: much longer than a server takes to be there again. */
const LEASE_MS = 3_000;
/** Longer than a sentinel takes as well. */
const SENTINEL_LEASE_MS = 12_000;
/** For all that is added while leases end and a rebuild waits for them, so that none is planned anew. */
const LARGE = 10 * CAPACITY;

interface Restart {
  readonly trustAfterFailover?: boolean;
  /** The instances that are cut off before; they learn nothing of that for as long as they may believe. */
  readonly cutOff?: readonly TcpProxy[];
  /** Called when the server is back. */
  readonly onBack?: () => void;
}

/** The server is killed and restarted at once. */
async function restartBelieved(
  world: World<ProxiedSite>,
  { trustAfterFailover = false, cutOff = world.site.proxies.slice(0, 1), onBack }: Restart = {},
): Promise<void> {
  const { site } = world;
  await replaceBelieved(world, {
    redis: site.server.url,
    trustAfterFailover,
    strike: async () => {
      for (const proxy of cutOff) proxy.hold();
      await site.server.kill();
      await site.server.restart();
      onBack?.();
    },
  });
  for (const proxy of cutOff) proxy.release();
}

/** Has the filter built by an instance that knows of no leases, and is gone then. */
async function buildUnleased(site: ProxiedSite, table: ShopDatabase): Promise<void> {
  const instance = await ShopInstance.start({
    redis: site.server.url,
    table,
    kind: 'blocked',
    capacity: LARGE,
    timeoutMs: PATIENT_TIMEOUT_MS,
    without: undefined,
  });
  try {
    await eventually('the filter is built', async () => (await instance.filter.check('nobody')) === 'absent');
  } finally {
    await instance.close();
  }
}

async function save(
  { server }: ProxiedSite,
  check: (admin: Redis) => Promise<void> = async () => {},
): Promise<void> {
  const admin = adminOf(server);
  try {
    await check(admin);
    await admin.save();
  } finally {
    admin.disconnect();
  }
}

function leased<Site extends RedisSite>(
  specification: Omit<FaultSpecification<Site>, 'group' | 'kind'>,
): Fault {
  return fault({ copyLeaseMs: LEASE_MS, capacity: LARGE, ...specification, group: 'leased', kind: 'leased' });
}

/**
 * Another server takes the place of the one that granted leases, and takes adds while readers believe in
 * their copies.
 */
export const believingFaults: readonly Fault[] = [
  leased({
    name: 'killed, restarted empty at once, readers go on believing',
    quick: true,
    start: () => ProxiedSite.start(),
    strike: (world) => restartBelieved(world),
  }),
  leased({
    name: 'restarted from an older snapshot at once, readers go on believing',
    start: () => ProxiedSite.start(),
    strike: async (world) => {
      await save(world.site);
      await delay(LAG_MS);
      await restartBelieved(world);
    },
  }),
  leased({
    name: 'restarted from a snapshot that is trusted, readers go on believing',
    trustAfterFailover: true,
    start: () => ProxiedSite.start(),
    strike: async (world) => {
      const { site, traffic } = world;
      // What it is trusted for: it has every id that was acknowledged.
      const { adders } = traffic;
      traffic.adders = new Set();
      await delay(2 * WRITE_TIMEOUT_MS);
      await save(site);
      await restartBelieved(world, { trustAfterFailover: true, onBack: () => (traffic.adders = adders) });
    },
  }),
  leased({
    name: 'restarted from a snapshot that is trusted and knows of no lease, readers go on believing',
    quick: true,
    trustAfterFailover: true,
    // What the snapshot is trusted for: it has every id that was acknowledged.
    addsLater: true,
    // The first of them to renew a lease would make it known again that there are leases.
    start: () => ProxiedSite.start([0, 1, 2]),
    prepare: async ({ site, table }) => {
      await buildUnleased(site, table);
      await save(site, async (admin) => {
        for (const meta of await admin.keys('*:meta'))
          if (await admin.hexists(meta, 'leases.ms')) throw new Error('It knows of leases.');
      });
    },
    strike: async (world) => {
      const { traffic, instances } = world;
      await restartBelieved(world, {
        trustAfterFailover: true,
        cutOff: world.site.proxies,
        onBack: () => (traffic.adders = new Set(instances)),
      });
    },
  }),
  leased({
    name: 'replica promoted, readers of the old master go on believing',
    start: () => ReplicatedSite.start(),
    strike: async (world) => {
      const { site } = world;
      const [cutOff, other] = site.doors;
      await replaceBelieved(world, {
        redis: site.connection(2),
        strike: async () => {
          await site.lag();
          cutOff.hold();
          await site.promote();
          site.lead(site.replica, [other]);
        },
      });
      cutOff.release();
      site.lead(site.replica);
    },
  }),
  leased({
    name: 'Sentinel failover, readers go on believing',
    copyLeaseMs: SENTINEL_LEASE_MS,
    start: () => SentinelSite.start(),
    strike: async (world) => {
      const { site } = world;
      await replaceBelieved(world, {
        redis: site.connection(2),
        strike: async () => {
          await site.lag();
          for (const door of site.doors) door.hold();
          await site.failOver();
        },
      });
      for (const door of site.doors) door.release();
    },
  }),
];
