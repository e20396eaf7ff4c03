import { setTimeout as delay } from 'node:timers/promises';
import { damaged, DAMAGES } from './damages.js';
import { type Fault, fault } from './fault.js';
import { FILTER } from './filter-kinds.js';
import { ServerSite } from './redis-site.js';
import { SERVER_FAULTS } from './server-faults.js';

const LEASE = `bloom:{${FILTER}}:lease`;
const forGood = { isForGood: true };

/** Filters that grow by layers, and have no source to be rebuilt from: what is lost stays `unknown`. */
export const scalingFaults: readonly Fault[] = [
  damaged('scaling', DAMAGES.deleted, { ...forGood, quick: true }),
  damaged('scaling', DAMAGES.cut, forGood),
  damaged('scaling', DAMAGES.zeros, forGood),
  damaged('scaling', DAMAGES.otherBytes, forGood),
  damaged('scaling', DAMAGES.otherType, forGood),
  damaged('scaling', DAMAGES.flushed, forGood),
  damaged('scaling', DAMAGES.metaDeleted, { ...forGood, quick: true }),
  damaged('scaling', DAMAGES.metaNonsense, forGood),
  damaged('scaling', DAMAGES.metaOtherToken, forGood),
  SERVER_FAULTS.restartedEmpty('scaling', forGood),
  SERVER_FAULTS.restartedOlder('scaling', forGood),
  SERVER_FAULTS.scriptsFlushed('scaling', { quick: true }),
  SERVER_FAULTS.stopped('scaling'),
  SERVER_FAULTS.repliesCut('scaling', true),
  SERVER_FAULTS.held('scaling'),
  fault({
    name: 'lease of a dead process, no further layer',
    group: 'scaling',
    kind: 'scaling',
    start: () => ServerSite.start(),
    strike: async ({ site, over }) => {
      await site.admin.set(LEASE, 'dead');
      await delay(2000);
      over();
      await site.admin.del(LEASE);
    },
  }),
  fault({
    name: 'out of memory (noeviction)',
    group: 'scaling',
    kind: 'scaling',
    start: () => ServerSite.start(['--maxmemory-policy', 'noeviction']),
    strike: async ({ site, over }) => {
      await site.admin.config('SET', 'maxmemory', String(1 << 19));
      await delay(500);
      await site.admin.config('SET', 'maxmemory', '0');
      over();
    },
  }),
];
