import { setTimeout as delay } from 'node:timers/promises';
import type { BloomRedis } from '../../src/store/redis/index.js';
import { type Fault, fault, type World } from './fault.js';
import { FILTER } from './filter-kinds.js';
import { ShopInstance } from './shop-instance.js';
import { rebuild } from './rebuilds.js';
import { ProxiedSite, type RedisSite, ServerSite } from './redis-site.js';
import { PATIENT_TIMEOUT_MS } from './timings.js';

const META = `bloom:{${FILTER}}:meta`;
const SEGMENT = `bloom:{${FILTER}}:0`;
const TIMES_LARGER = 100;

/** An instance more, which plans a larger filter than the others. */
async function withLargerInstance(
  { table, capacity, without }: World<RedisSite>,
  redis: BloomRedis,
  work: (other: ShopInstance) => Promise<void>,
): Promise<void> {
  const other = await ShopInstance.start({
    redis,
    table,
    kind: 'blocked',
    timeoutMs: PATIENT_TIMEOUT_MS,
    capacity: capacity * TIMES_LARGER,
    without,
  });
  try {
    await work(other);
  } finally {
    await other.close();
  }
}

/** Instances of several versions of the application beside one another. */
export const versionFaults: readonly Fault[] = [
  fault({
    name: 'an instance that plans another size',
    group: 'versions',
    quick: true,
    start: () => ServerSite.start(),
    strike: (world) =>
      withLargerInstance(world, world.site.connection(), async (other) => {
        await rebuild(other);
        await rebuild(world.instances[0]);
        await rebuild(other);
      }),
  }),
  fault({
    name: 'commands of an older geometry after a resize',
    group: 'versions',
    start: () => ProxiedSite.start(),
    strike: (world) =>
      withLargerInstance(world, world.site.connection(2), async (other) => {
        const { proxies } = world.site;
        for (const rebuilder of [other, world.instances[2]]) {
          for (const proxy of proxies) proxy.hold();
          await rebuild(rebuilder);
          for (const proxy of proxies) proxy.release();
          await delay(200);
        }
      }),
  }),
  fault({
    name: 'a newer format beside the others',
    group: 'versions',
    quick: true,
    start: () => ServerSite.start(),
    strike: async ({ site }) => {
      const newer = Buffer.alloc(4096, 1);
      await site.admin
        .multi()
        .del(META)
        .hset(META, 'format', '2', 'state', 'ready', 'tag', '00000001', 'shape', 'another')
        .set(SEGMENT, newer)
        .exec();
      await delay(700);
      const { format, shape } = await site.admin.hgetall(META);
      const stays =
        format === '2' && shape === 'another' && newer.equals((await site.admin.getBuffer(SEGMENT))!);
      if (!stays) throw new Error('What a newer version wrote was overwritten.');
      // The newer version is taken back, and what it wrote with it.
      await site.admin.del(META, SEGMENT);
    },
  }),
];
