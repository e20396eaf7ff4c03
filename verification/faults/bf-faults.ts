import { setTimeout as delay } from 'node:timers/promises';
import { BF_ARGUMENTS, HOW_TO_HAVE_BF } from '../../test/support/bf-arguments.js';
import { damaged, damagedInRebuild, DAMAGES, type Damage } from './damages.js';
import { type Fault, fault } from './fault.js';
import { FILTER_KINDS } from './filter-kinds.js';
import { killed, paused } from './rebuilder-faults.js';
import type { Step } from './rebuilder-protocol.js';
import { ServerSite } from './redis-site.js';
import { SERVER_FAULTS } from './server-faults.js';

export const hasBfServer = BF_ARGUMENTS !== undefined;
export const BF_SKIPPED = `SKIPPED: filters of BF.* and CF.*. ${HOW_TO_HAVE_BF}`;

const STEPS: readonly Step[] = ['publish', 'scan', 'swap', 'swap, its reply unread'];

/** Another program recreates the key. */
const reservedAnew: Damage = {
  name: 'key replaced by an empty filter',
  strike: (admin, _, key) =>
    admin.eval(
      `redis.call('DEL', KEYS[1]) return redis.call('BF.RESERVE', KEYS[1], '0.001', '10000')`,
      1,
      key,
    ),
};

/** Adds of the meantime, which were acknowledged, are not in it. */
const olderCopy: Damage = {
  name: 'an older copy of the key put back',
  strike: async (admin, _, key) => {
    const copy = (await admin.dumpBuffer(key))!;
    await delay(100);
    await admin.restore(key, 0, copy, 'REPLACE');
  },
};

export const bfFaults: readonly Fault[] = BF_ARGUMENTS ? faultsOn(BF_ARGUMENTS) : [];

/** Something else comes under the key: no rebuild destroys it, and the filter is back when it is gone. */
function leftAlone(on: { start: () => Promise<ServerSite> }): Fault {
  return fault({
    name: 'key of another type',
    group: 'redisbloom',
    kind: 'redisbloom',
    ...on,
    strike: async ({ site, instances, over }) => {
      const { live } = FILTER_KINDS.redisbloom;
      await site.admin.multi().del(live).rpush(live, 'x').exec();
      await delay(500);
      await instances[0].filter.rebuild().catch(() => {});
      const left = await site.admin.type(live);
      if (left !== 'list') throw new Error(`The key was replaced by one of type ${left}.`);
      await site.admin.del(live);
      over();
    },
  });
}

function faultsOn(args: readonly string[]): Fault[] {
  const start = () => ServerSite.start(args);
  const on = { start };
  return [
    damaged('redisbloom', DAMAGES.deleted, on),
    damaged('redisbloom', reservedAnew, on),
    damagedInRebuild('redisbloom', DAMAGES.deleted, on),
    damagedInRebuild('redisbloom', reservedAnew, on),
    damagedInRebuild('redisbloom', DAMAGES.stagedDeleted, on),
    damaged('cuckoo', DAMAGES.deleted, on),
    damaged('cuckoo', olderCopy, on),
    damaged('redisbloom', olderCopy, on),
    damagedInRebuild('redisbloom', olderCopy, on),
    leftAlone(on),
    ...(['redisbloom', 'cuckoo'] as const).flatMap((kind) => [
      damaged(kind, DAMAGES.flushed, on),
      damaged(kind, DAMAGES.metaDeleted, on),
      damaged(kind, DAMAGES.metaNonsense, on),
      damaged(kind, DAMAGES.metaOtherToken, on),
      damagedInRebuild(kind, DAMAGES.flushed, on),
      damagedInRebuild(kind, DAMAGES.metaDeleted, on),
      SERVER_FAULTS.restartedEmpty(kind, on),
      SERVER_FAULTS.restartedOlder(kind, on),
      SERVER_FAULTS.scriptsFlushed(kind, on),
      SERVER_FAULTS.stopped(kind, on),
      SERVER_FAULTS.repliesCut(kind, false, args),
      ...STEPS.map((at) => killed(at, { kind, group: kind, start })),
      ...STEPS.map((at) => paused(at, { kind, group: kind, start })),
    ]),
  ];
}
