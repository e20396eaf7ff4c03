import { setTimeout as delay } from 'node:timers/promises';
import type { BloomId } from 'nestjs-bloom';
import { eventually } from '../../test/support/eventually.js';
import { type Fault, fault, type World } from './fault.js';
import { type RedisSite, ServerSite } from './redis-site.js';

/** What a new version of the application makes of ids; the one before leaves them as they are. */
const normalize = (id: BloomId) => String(id).toUpperCase();
/** Processes of both kinds run for so long after each step of a rolling deploy. */
const STEP_MS = 1500;
/** Rebuilds that both kinds have begun may have pauses of two minutes between them. */
const LONGEST_MS = 300_000;

/** Each process is replaced by one with another normalize, and each serves lookups and adds all the time. */
async function roll({ instances, over }: World<RedisSite>): Promise<void> {
  for (const instance of instances) {
    await instance.roll({ normalize });
    await delay(STEP_MS);
  }
  over();
  for (const { filter } of instances)
    await eventually('the filter is ready', async () => (await filter.info()).state === 'ready', LONGEST_MS);
}

function rolling(kind: 'blocked' | 'partitioned' | 'leased', quick = false): Fault {
  return fault({
    name: `a rolling deploy that changes normalize${kind === 'blocked' ? '' : ` (${kind})`}`,
    group: 'versions',
    kind,
    quick,
    start: () => ServerSite.start(),
    strike: roll,
  });
}

/** Processes that spell ids in different ways beside one another. */
export const spellingFaults: readonly Fault[] = [
  rolling('blocked', true),
  rolling('partitioned'),
  rolling('leased'),
  fault({
    name: 'a rolling deploy that changes normalize, where nobody adds',
    group: 'versions',
    addsLater: true,
    start: () => ServerSite.start(),
    strike: roll,
  }),
];
