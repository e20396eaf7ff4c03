import { setTimeout as delay } from 'node:timers/promises';
import { BloomUnavailableError } from 'nestjs-bloom';
import { damaged, DAMAGES } from './damages.js';
import { type Fault, fault, type World } from './fault.js';
import type { ShopInstance } from './shop-instance.js';
import { ServerSite } from './redis-site.js';

/** By then a filter that was recreated too early would have shown it. */
const SETTLED_MS = 500;

/** Filters without a source: what is lost, no rebuild can bring back. */
export const noSourceFaults: readonly Fault[] = [
  damaged('no source', DAMAGES.flushed, { isForGood: true }),
  damaged('explicit', DAMAGES.flushed, { isForGood: true }),
  fault({
    name: 'FLUSHALL, every instance restarts',
    group: 'explicit',
    kind: 'explicit',
    quick: true,
    isForGood: true,
    start: () => ServerSite.start(),
    strike: async (world) => {
      await emptyAndRestart(world, world.instances);
      await expectRejectedAdds(world.instances);
    },
  }),
  fault({
    name: 'FLUSHALL, all but one restart',
    group: 'no source',
    kind: 'no source',
    isForGood: true,
    start: () => ServerSite.start(),
    strike: async (world) => {
      await emptyAndRestart(world, world.instances.slice(1));
      await expectRejectedAdds(world.instances);
    },
  }),
  fault({
    name: 'FLUSHALL, every instance restarts',
    group: 'no source',
    kind: 'no source',
    isBeyond: true,
    start: () => ServerSite.start(),
    strike: async (world) => {
      await emptyAndRestart(world, world.instances);
      world.remark("created again, empty, as documented: create: 'explicit' keeps it unknown");
    },
  }),
];

/** No instance runs when Redis is emptied but those that are left out. */
async function emptyAndRestart(
  { site }: World<ServerSite>,
  instances: readonly ShopInstance[],
): Promise<void> {
  await Promise.all(instances.map((instance) => instance.close()));
  await site.admin.flushall();
  await Promise.all(instances.map((instance) => instance.startAgain()));
}

async function expectRejectedAdds(instances: readonly ShopInstance[]): Promise<void> {
  const until = performance.now() + SETTLED_MS;
  while (performance.now() < until) {
    for (const { filter } of instances) {
      const outcome = await filter.add('added-after-the-loss').then(
        () => 'acknowledged',
        (error: unknown) => error,
      );
      if (!(outcome instanceof BloomUnavailableError))
        throw new Error(`Expected the add to be rejected, got: ${String(outcome)}`);
      const verdict = await filter.check('nobody');
      if (verdict !== 'unknown') throw new Error(`Expected 'unknown', got '${verdict}'.`);
    }
    await delay(20);
  }
}
