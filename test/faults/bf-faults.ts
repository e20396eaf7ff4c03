import { damaged, damagedInRebuild, DAMAGES, type Damage } from './damages.js';
import type { Fault } from './fault.js';
import { killed, paused } from './rebuilder-faults.js';
import type { Step } from './rebuilder-protocol.js';
import { ServerSite } from './redis-site.js';
import { SERVER_FAULTS } from './server-faults.js';

/** Arguments with which redis-server has `BF.*` and `CF.*`; REDIS_SERVER names the program. */
const ARGS = process.env.BLOOM_TEST_BF_ARGS?.split(' ').filter(Boolean);

export const hasBfServer = ARGS !== undefined;
export const BF_SKIPPED =
  'SKIPPED: filters of BF.* and CF.*. Set BLOOM_TEST_BF_ARGS to the arguments with which redis-server has these commands, such as ' +
  "'--loadmodule /path/redisbloom.so', and REDIS_SERVER to its program.";

const STEPS: readonly Step[] = ['publish', 'scan', 'swap', 'swap, its reply unread'];

/** Another program makes the key anew. */
const reservedAnew: Damage = {
  name: 'key replaced by an empty filter',
  strike: (admin, _, key) =>
    admin.eval(
      `redis.call('DEL', KEYS[1]) return redis.call('BF.RESERVE', KEYS[1], '0.001', '10000')`,
      1,
      key,
    ),
};

export const bfFaults: readonly Fault[] = ARGS ? faultsOn(ARGS) : [];

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
