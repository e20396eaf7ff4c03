import { setTimeout as delay } from 'node:timers/promises';
import { redisson } from '@nestjs-bloom/interop';
import { damaged, damagedInRebuild, DAMAGES, type Damage } from './damages.js';
import { type Fault, fault } from './fault.js';
import { killed, paused } from './rebuilder-faults.js';
import { type Step, STEPS } from './rebuilder-protocol.js';
import { rebuild } from './rebuilds.js';
import { ServerSite } from './redis-site.js';
import { SERVER_FAULTS } from './server-faults.js';

/** What a rebuild of one string has no step for. */
const STEPS_OF_STRINGS = STEPS.filter((step) => step !== 'load');
const AFTER_VERIFY: readonly Step[] = ['swap', 'swap, its reply unread'];

/** A rebuild leaves such a key alone until somebody deletes it. */
const otherTypeThenDeleted: Damage = {
  name: 'key of another type, then deleted',
  strike: async (admin, filter, key) => {
    await DAMAGES.otherType.strike(admin, filter, key);
    await delay(400);
    await admin.del(key);
  },
};

const configDeleted: Damage = {
  name: 'config deleted',
  strike: (admin, _, key) => admin.del(redisson.keys(key).config),
};

/** Filters on keys that another program adds to as well, all the time. */
export const foreignFaults: readonly Fault[] = [
  damaged('go-zero', DAMAGES.deleted, { quick: true }),
  damaged('go-zero', DAMAGES.emptied),
  damaged('go-zero', DAMAGES.cut),
  damaged('go-zero', DAMAGES.zeros),
  damaged('go-zero', DAMAGES.otherBytes),
  damaged('go-zero', otherTypeThenDeleted),
  damaged('go-zero', DAMAGES.flushed),
  damaged('go-zero', DAMAGES.metaDeleted),
  damaged('go-zero', DAMAGES.metaNonsense),
  damaged('go-zero', DAMAGES.metaOtherToken),
  damagedInRebuild('go-zero', DAMAGES.deleted, { quick: true }),
  damagedInRebuild('go-zero', DAMAGES.zeros),
  damagedInRebuild('go-zero', DAMAGES.metaDeleted),
  damagedInRebuild('go-zero', DAMAGES.stagedDeleted),
  damagedInRebuild('go-zero', DAMAGES.flushed),
  SERVER_FAULTS.restartedEmpty('go-zero'),
  SERVER_FAULTS.restartedOlder('go-zero', { quick: true }),
  SERVER_FAULTS.scriptsFlushed('go-zero'),
  SERVER_FAULTS.stopped('go-zero'),
  SERVER_FAULTS.repliesCut('go-zero'),
  fault({
    name: 'two rebuilds at once',
    group: 'go-zero',
    kind: 'go-zero',
    start: () => ServerSite.start(),
    strike: async ({ instances }) => void (await Promise.all(instances.slice(0, 2).map(rebuild))),
  }),
  ...STEPS_OF_STRINGS.map((at) =>
    killed(at, { kind: 'go-zero', group: 'go-zero', quick: at === 'swap, its reply unread' }),
  ),
  ...(['publish', 'scan', ...AFTER_VERIFY] as const).map((at) =>
    paused(at, { kind: 'go-zero', group: 'go-zero', quick: at === 'swap' }),
  ),
  damaged('redisson', DAMAGES.deleted),
  damaged('redisson', DAMAGES.zeros),
  damaged('redisson', configDeleted, { quick: true }),
  damaged('redisson', DAMAGES.flushed),
  damaged('redisson', DAMAGES.metaDeleted),
  damagedInRebuild('redisson', DAMAGES.deleted),
  damagedInRebuild('redisson', configDeleted),
  SERVER_FAULTS.restartedOlder('redisson'),
  SERVER_FAULTS.scriptsFlushed('redisson'),
  ...AFTER_VERIFY.map((at) => killed(at, { kind: 'redisson', group: 'redisson' })),
  ...AFTER_VERIFY.map((at) => paused(at, { kind: 'redisson', group: 'redisson' })),
];
