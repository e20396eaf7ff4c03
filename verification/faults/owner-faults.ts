import { setTimeout as delay } from 'node:timers/promises';
import { BloomConfigError } from 'nestjs-bloom';
import { eventually } from '../../test/support/eventually.js';
import { TcpProxy } from '../../test/support/tcp-proxy.js';
import { type Fault, fault, type World } from './fault.js';
import { FILTER } from './filter-kinds.js';
import { ShopInstance } from './shop-instance.js';
import { ServerSite } from './redis-site.js';
import { ShopDatabase } from './shop-database.js';
import { PATIENT_TIMEOUT_MS } from './timings.js';

const META = `bloom:{${FILTER}}:meta`;
const STRANGER = 'another-application';
const STRANGE_IDS = Array.from({ length: 200 }, (_, i) => `strange-${i}`);
const WATCHED_MS = 1500;

/** Another application with a filter of the same name, and with rows of its own, on the same Redis. */
export const ownerFaults: readonly Fault[] = [
  fault({
    name: 'another application starts',
    group: 'owners',
    quick: true,
    start: () => ServerSite.start(),
    strike: (world) => expectNoStart(world, world.site.server.url),
  }),
  fault({
    name: 'a filter of an older version, then another one',
    group: 'owners',
    start: () => ServerSite.start(),
    strike: async (world) => {
      const { admin, server } = world.site;
      const { owner } = await admin.hgetall(META);
      await admin.hdel(META, 'owner');
      await eventually('it is claimed', async () => (await admin.hget(META, 'owner')) === owner);
      await expectNoStart(world, server.url);
    },
  }),
  fault({
    name: 'another one starts while Redis is away',
    group: 'owners',
    start: () => ServerSite.start(),
    strike: async (world) => {
      const { site, over } = world;
      const door = await TcpProxy.open(site.server);
      door.hold();
      const { owner, builds } = await site.admin.hgetall(META);
      const stranger = await startStranger(world, door.url);
      try {
        door.release();
        await expectLeftAlone(stranger);
        const after = await site.admin.hgetall(META);
        if (after.owner !== owner || after.builds !== builds)
          throw new Error('The other application wrote to the metadata.');
        if (!stranger.events.some(({ type }) => type === 'other-owner'))
          throw new Error('The other application did not say whose filter it is.');
        over();
      } finally {
        await stranger.close();
        await door.close();
      }
    },
  }),
];

function startStranger({ without, capacity }: World<ServerSite>, redis: string): Promise<ShopInstance> {
  const table = new ShopDatabase(STRANGE_IDS);
  const timeoutMs = PATIENT_TIMEOUT_MS;
  return ShopInstance.start({ redis, table, kind: 'blocked', timeoutMs, capacity, without, owner: STRANGER });
}

async function expectNoStart(world: World<ServerSite>, redis: string): Promise<void> {
  const found = await startStranger(world, redis).catch((error: unknown) => error);
  if (found instanceof ShopInstance) await found.close();
  if (!(found instanceof BloomConfigError))
    throw new Error(`Expected an error at start, got: ${String(found)}`);
}

/** It denies nothing, its own rows included, and adds nothing. */
async function expectLeftAlone({ filter, shop }: ShopInstance): Promise<void> {
  const until = performance.now() + WATCHED_MS;
  for (let i = 0; performance.now() < until; i++) {
    const id = STRANGE_IDS[i % STRANGE_IDS.length]!;
    const [verdict, found, added] = await Promise.all([
      filter.check(id),
      shop.find(id),
      filter.add(`more-${i}`).catch(() => 'rejected'),
    ]);
    if (verdict !== 'unknown' || found === 'absent' || added !== 'rejected')
      throw new Error(`The other application got ${verdict}, ${String(found)}, ${String(added)}.`);
    await delay(5);
  }
}
