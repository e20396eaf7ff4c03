import { setTimeout as delay } from 'node:timers/promises';
import { partName } from '../../src/store/redis/protocol/part-name.js';
import { type Fault, fault, type FaultSpecification } from './fault.js';
import { FEED_FAULTS } from './feed-faults.js';
import { FILTER, PARTS } from './filter-kinds.js';
import { rebuild } from './rebuilds.js';
import { type RedisSite, ServerSite } from './redis-site.js';
import { SERVER_FAULTS } from './server-faults.js';
import { stopReader } from './stopped-reader.js';
import { TIMED_LEASE_MS } from './timings.js';

const FOR_MS = 2000;
/** By then a rebuild has staged some parts. */
const STAGED_AFTER_MS = 150;

function ofParts<Site extends RedisSite>(
  specification: Omit<FaultSpecification<Site>, 'group' | 'kind'>,
): Fault {
  return fault({ ...specification, group: 'leased parts', kind: 'leased parts' });
}

const keyOf = (part: number, key: string) => `bloom:{${partName(FILTER, part)}}:${key}`;

/** Copies of a divided filter that answer "absent" without asking Redis, while something fails. */
export const leasedPartsFaults: readonly Fault[] = [
  ofParts({
    name: 'reader stopped past its lease (SIGSTOP), keys of readers and feeds of parts removed',
    quick: true,
    start: () => ServerSite.start(),
    copyLeaseMs: TIMED_LEASE_MS,
    strike: async ({ site, instances, copyLeaseMs, remark }) => {
      let struck = 0;
      await stopReader({
        site,
        leaseMs: copyLeaseMs,
        partitions: PARTS,
        adder: instances[0],
        remark,
        meanwhile: async () => {
          for (let i = 0; i < PARTS; i++) {
            const key = ['readers', 'feed'][struck++ % 2]!;
            await site.admin.del(keyOf(struck % PARTS, key));
            await delay(FOR_MS / (4 * PARTS));
          }
        },
      });
    },
  }),
  ofParts({
    name: 'all keys of a part removed, of one part after the other',
    quick: true,
    start: () => ServerSite.start(),
    strike: async ({ site, over }) => {
      for (let part = 0; part < PARTS; part += 3) {
        const keys = await site.admin.keys(keyOf(part, '*'));
        await site.admin.del(...keys);
        await delay(FOR_MS / 6);
      }
      over();
    },
  }),
  ofParts({
    name: 'metadata of a part removed while all parts are rebuilt',
    start: () => ServerSite.start(),
    strike: async ({ site, instances, over }) => {
      for (let part = 1; part < PARTS; part += 5) {
        const rebuilding = rebuild(instances[part % 3]!).catch(() => {});
        await delay(STAGED_AFTER_MS);
        await site.admin.del(keyOf(part, 'meta'));
        await rebuilding;
      }
      over();
    },
  }),
  SERVER_FAULTS.restartedEmpty('leased parts'),
  SERVER_FAULTS.restartedOlder('leased parts'),
  SERVER_FAULTS.stopped('leased parts'),
  FEED_FAULTS.messagesHeld('leased parts'),
  FEED_FAULTS.allHeld('leased parts'),
  FEED_FAULTS.acknowledgementsHeld('leased parts'),
  SERVER_FAULTS.failedOver('leased parts'),
];
