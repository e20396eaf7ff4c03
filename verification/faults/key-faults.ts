import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { CUT } from './damages.js';
import { type Fault, fault } from './fault.js';
import { FILTER } from './filter-kinds.js';
import { rebuild } from './rebuilds.js';
import { ServerSite } from './redis-site.js';

const META = `bloom:{${FILTER}}:meta`;
const SEGMENT = `bloom:{${FILTER}}:0`;
/** Three segments. */
const LARGE = 600_000;

/** Somebody reaches into the keys. */
function damage(
  name: string,
  strike: (admin: Redis) => Promise<unknown>,
  options: { capacity?: number; quick?: boolean } = {},
): Fault {
  return fault({
    name,
    group: 'keys',
    start: () => ServerSite.start(),
    ...options,
    strike: async ({ site }) => void (await strike(site.admin)),
  });
}

/** Instances that keep what they know would never look at metadata that were edited: they are made to. */
async function edit(admin: Redis, ...fields: string[]): Promise<void> {
  await admin.hset(META, ...fields);
  await dropConnections(admin);
}

async function dropConnections(admin: Redis): Promise<void> {
  await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
}

export const keyFaults: readonly Fault[] = [
  damage('FLUSHALL', (admin) => admin.flushall(), { quick: true }),
  fault({
    name: 'FLUSHALL during a rebuild',
    group: 'keys',
    start: () => ServerSite.start(),
    strike: async ({ site, instances, over }) => {
      const rebuild = instances[0].filter.rebuild().catch(() => {});
      await delay(150);
      await site.admin.flushall();
      over();
      await rebuild;
    },
  }),
  damage('one segment deleted', (admin) => admin.del(`bloom:{${FILTER}}:1`), {
    capacity: LARGE,
    quick: true,
  }),
  fault({
    name: 'numbers in the metadata that lie, then a rebuild',
    group: 'keys',
    start: () => ServerSite.start(),
    strike: async ({ site, instances }) => {
      for (const lie of ['999999999999999', '1000000000', 'x']) {
        await edit(site.admin, 'ids', lie, 'capacity', lie, 'count', lie, 'builds', lie, 'builtAt', lie);
        await instances[2].filter.checkMany(['nobody']);
        await rebuild(instances[2]);
      }
    },
  }),
  damage('metadata deleted', (admin) => admin.del(META), { quick: true }),
  fault({
    name: 'metadata deleted during a rebuild',
    group: 'keys',
    start: () => ServerSite.start(),
    strike: async ({ site, instances, over }) => {
      const rebuild = instances[0].filter.rebuild().catch(() => {});
      await delay(150);
      await site.admin.del(META);
      over();
      await rebuild;
    },
  }),
  fault({
    name: 'staging deleted during a rebuild',
    group: 'keys',
    start: () => ServerSite.start(),
    strike: async ({ site, instances, over }) => {
      const rebuild = instances[0].filter.rebuild().catch(() => {});
      await delay(150);
      const staging = await site.admin.keys(`bloom:{${FILTER}}:next:*`);
      await site.admin.del(...staging);
      over();
      await rebuild;
    },
  }),
  damage('segment truncated', (admin) => admin.eval(CUT, 1, SEGMENT)),
  damage('segment of another type', (admin) => admin.multi().del(SEGMENT).rpush(SEGMENT, 'x').exec()),
  damage(
    'segment with other bytes',
    async (admin) => admin.set(SEGMENT, randomBytes(await admin.strlen(SEGMENT))),
    { quick: true },
  ),
  damage('segment with zero bytes', async (admin) =>
    admin.set(SEGMENT, Buffer.alloc(await admin.strlen(SEGMENT))),
  ),
  damage('metadata of another type', async (admin) => {
    await admin.multi().del(META).set(META, 'x').exec();
    await dropConnections(admin);
  }),
  damage('metadata edited to nonsense', (admin) => edit(admin, 'blocks', 'many', 'key', '?'), {
    quick: true,
  }),
  damage('metadata with another key', (admin) => edit(admin, 'key', '0123456789abcdef')),
  damage('metadata with another tag', (admin) => admin.hset(META, 'tag', '0123abcd')),
  damage('metadata with huge numbers', (admin) =>
    edit(admin, 'blocks', '999999999999', 'hashCount', '1e9', 'count', `${2n ** 63n - 1n}`),
  ),
  damage('a count with a huge number', (admin) => admin.hset(META, 'count', `${2n ** 63n - 1n}`)),
  fault({
    name: 'metadata edited to a newer version',
    group: 'keys',
    quick: true,
    start: () => ServerSite.start(),
    strike: async ({ site }) => {
      await edit(site.admin, 'format', '2');
      await delay(200);
      const before = await site.admin.hgetall(META);
      await delay(500);
      const after = await site.admin.hgetall(META);
      if (JSON.stringify(before) !== JSON.stringify(after)) throw new Error('A newer filter was written to.');
      await site.admin.hset(META, 'format', '1');
    },
  }),
];
