import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../../test/support/eventually.js';
import { type Fault, fault, type World } from './fault.js';
import { ShopInstance } from './shop-instance.js';
import { adminOf, SwappedSite } from './redis-site.js';
import { ShopDatabase } from './shop-database.js';
import { LAG_MS, TIMEOUT_MS } from './timings.js';

const CAUSE = /Another Redis server answers on a connection that stayed open/;

/** Builds a filter of that name, of other rows, on the second server. */
async function buildAnother({ site, kind, capacity, without }: World<SwappedSite>): Promise<void> {
  const table = new ShopDatabase(['else']);
  const redis = site.second.url;
  const other = await ShopInstance.start({ redis, table, kind, capacity, without, timeoutMs: TIMEOUT_MS });
  try {
    await eventually('it answers', async () => (await other.filter.check('nobody')) === 'absent');
  } finally {
    await other.close();
  }
}

/** Leaves the second server with what the first one has now. */
async function copy({ site }: World<SwappedSite>): Promise<void> {
  const admin = adminOf(site.second);
  await admin.replicaof(site.first.host, site.first.port);
  await eventually('the replica follows', async () =>
    (await admin.info('replication')).includes('master_link_status:up'),
  );
  await admin.replicaof('NO', 'ONE');
  admin.disconnect();
}

function isTold({ instances }: World<SwappedSite>): boolean {
  return instances.every(({ events }) =>
    events.some(({ type, ...event }) => type === 'advice' && 'text' in event && CAUSE.test(event.text)),
  );
}

/** A proxy that understands Redis puts another server behind connections that stay open. */
export const proxyFaults: readonly Fault[] = [
  fault({
    name: 'a proxy puts an empty server behind open connections',
    group: 'redis',
    start: () => SwappedSite.start(),
    strike: ({ site }) => site.swap(),
  }),
  fault({
    name: 'a proxy puts a server with another filter of that name there',
    group: 'redis',
    start: () => SwappedSite.start(),
    strike: async (world) => {
      await buildAnother(world);
      await world.site.swap();
      world.over();
      await eventually('every instance names the cause', () => isTold(world));
    },
  }),
  fault({
    name: 'a proxy puts an older copy of the server behind open connections',
    group: 'redis',
    isBeyond: true,
    start: () => SwappedSite.start(),
    strike: async (world) => {
      await copy(world);
      await delay(LAG_MS);
      await world.site.swap();
      world.over();
      await eventually('every instance names the cause', () => isTold(world));
    },
  }),
];
