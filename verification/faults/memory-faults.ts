import { setTimeout as delay } from 'node:timers/promises';
import type { BloomRedis } from '../../src/store/redis/index.js';
import { eventually } from '../../test/support/eventually.js';
import { leaveFree, MEBIBYTE, Tenant } from '../../test/support/full-server.js';
import { type Fault, fault, type World } from './fault.js';
import { expectRebuildToFail, rebuild } from './rebuilds.js';
import { adminOf, ServerSite } from './redis-site.js';

/** A generation of about 8 MiB. */
const CAPACITY = 2_000_000;
/** Keys of others, of 128 KiB each: more than there is memory for. */
const OTHER_KEYS = Array.from({ length: 200 }, (_, i) => `other:${i}`);
const OTHER_VALUE = 'x'.repeat(MEBIBYTE / 8);
/** The tenant goes on for so long. */
const AFTERWARDS_MS = 500;
/** How long the source is read while others take the memory. */
const READING_MS = 8000;
/**
 * Longest time for which others are refused: what was staged in vain is removed at once, or with the next
 * look of each second.
 */
const MOST_REFUSED_MS = { atOnce: 1500, nextLook: 2500 };

/** What a rebuild has staged must be gone. */
async function expectNothingStaged({ site }: World<ServerSite>): Promise<void> {
  const staged = (await site.admin.keys('*')).filter((key) => key.includes(':next:'));
  if (staged.length > 0) throw new Error(`Expected no staged keys, got ${staged.length}.`);
}

/** Another tenant writes meanwhile, and must not be refused for longer than that. */
async function besideTenant(
  world: World<ServerSite>,
  mostRefusedMs: number,
  work: () => Promise<void>,
): Promise<void> {
  const client = adminOf(world.site.server);
  const tenant = new Tenant(client).start();
  try {
    await work();
  } finally {
    await tenant.stop();
    client.disconnect();
  }
  const { writes, refused, longestRefusalMs } = tenant;
  world.remark(`${refused} of ${writes} writes of another tenant refused`);
  if (longestRefusalMs > mostRefusedMs) {
    throw new Error(
      `Expected refusals of the tenant for ${mostRefusedMs} ms at most, got ${Math.round(longestRefusalMs)} ms.`,
    );
  }
}

async function makeRoom(world: World<ServerSite>): Promise<void> {
  await world.site.admin.config('SET', 'maxmemory', '0');
  world.over();
  await rebuild(world.instances[0]);
}

async function startWithoutInfo(): Promise<ServerSite> {
  const user = { username: 'shop', password: 'one' } satisfies BloomRedis;
  const site = await ServerSite.start([], user);
  await site.admin.call('ACL', 'SETUSER', 'shop', 'on', '>one', '~*', '+@all', '-info');
  return site;
}

/** A rebuild on a server without the memory for it, which others use too (`noeviction`). */
export const memoryFaults: readonly Fault[] = [
  ...[
    { name: 'a rebuild does not fit beside another tenant', start: () => ServerSite.start(), most: 0 },
    {
      name: 'the same where INFO is not allowed',
      start: startWithoutInfo,
      most: MOST_REFUSED_MS.atOnce,
    },
  ].map(({ name, start, most }) =>
    fault({
      name,
      group: 'redis',
      capacity: CAPACITY,
      start,
      strike: async (world) => {
        await leaveFree(world.site.admin, 5 * MEBIBYTE);
        await besideTenant(world, most, async () => {
          await expectRebuildToFail(world.instances[0], 'no-memory');
          await expectNothingStaged(world);
          await delay(AFTERWARDS_MS);
        });
        await makeRoom(world);
      },
    }),
  ),
  fault({
    name: 'others need the memory of a rebuild under way',
    group: 'redis',
    capacity: CAPACITY,
    start: () => ServerSite.start(),
    strike: async (world) => {
      const { site, table, instances } = world;
      const { reading } = table;
      let isRead = false;
      table.reading = async function* (ids, signal) {
        yield* ids;
        isRead = true;
        await delay(READING_MS, undefined, { signal });
      };
      await leaveFree(site.admin, 20 * MEBIBYTE);
      await besideTenant(world, MOST_REFUSED_MS.nextLook, async () => {
        const failed = expectRebuildToFail(instances[0], 'no-memory');
        await eventually('the source is read', () => isRead);
        for (const key of OTHER_KEYS) await site.admin.set(key, OTHER_VALUE).catch(() => {});
        await failed;
        await expectNothingStaged(world);
        await site.admin.unlink(OTHER_KEYS);
      });
      table.reading = reading;
      await makeRoom(world);
    },
  }),
];
