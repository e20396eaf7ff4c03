import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { BloomEvent } from 'nestjs-bloom';
import { ENTRIES_LOST } from '../../src/store/local-copy/local-copy.messages.js';
import { AddTimes } from './add-times.js';
import { killFeeds } from './feed-connections.js';
import { FEED_FAULTS } from './feed-faults.js';
import { type Fault, fault, type FaultSpecification } from './fault.js';
import { drainOf, FILTER } from './filter-kinds.js';
import { openLeased } from './leased-filter.js';
import { rebuild } from './rebuilds.js';
import { ProxiedSite, type RedisSite, ServerSite } from './redis-site.js';
import { SERVER_FAULTS } from './server-faults.js';
import { stopReader } from './stopped-reader.js';
import { TIMED_LEASE_MS } from './timings.js';

const OUTAGE_MS = 700;
/** An entry of an add is written meanwhile. */
const TRIMMED_MS = 10;
const MANY = 50;
const MANY_MS = 20_000;
const ADDERS = 10;

function leased<Site extends RedisSite>(
  specification: Omit<FaultSpecification<Site>, 'group' | 'kind'>,
): Fault {
  return fault({ ...specification, group: 'leased', kind: 'leased' });
}

/** Does something to the server again and again, for some time. */
async function again(strike: () => Promise<unknown>): Promise<void> {
  for (const until = performance.now() + 2 * OUTAGE_MS; performance.now() < until; await delay(20))
    await strike();
}

async function trimFor(admin: Redis, ms: number): Promise<void> {
  for (const until = performance.now() + ms; performance.now() < until;)
    await admin.xtrim(`bloom:{${FILTER}}:feed`, 'MAXLEN', 0);
}

function isGap(event: BloomEvent): boolean {
  return event.type === 'copy-unleased' && event.reason === ENTRIES_LOST.reason;
}

interface ComingReader {
  readonly site: ServerSite;
  /** Ids that it must not deny. */
  readonly known: readonly string[];
  readonly isOver: () => boolean;
}

/** A reader that comes, answers for a while and goes. */
async function comeAndGo({ site, known, isOver }: ComingReader): Promise<number> {
  let wrong = 0;
  while (!isOver()) {
    const { store, filter } = await openLeased({
      redis: site.server.url,
      leaseMs: TIMED_LEASE_MS,
      emit: () => {},
    });
    await filter.describe().catch(() => {});
    for (const until = performance.now() + Math.random() * 4000; performance.now() < until && !isOver();) {
      for (const verdict of await Promise.all(known.slice(-20).map((id) => filter.checkOne(id))))
        if (verdict === 'absent') wrong++;
      await delay(20);
    }
    // Half of them are gone without a word.
    const leaves = Math.random() < 0.5;
    if (leaves) await filter.close();
    await store.close();
    if (!leaves) await filter.close();
  }
  return wrong;
}

/** Copies that answer "absent" without asking Redis, while something fails. */
export const copyFaults: readonly Fault[] = [
  SERVER_FAULTS.restartedEmpty('leased', { quick: true }),
  SERVER_FAULTS.restartedOlder('leased'),
  SERVER_FAULTS.stopped('leased'),
  SERVER_FAULTS.scriptsFlushed('leased'),
  SERVER_FAULTS.repliesCut('leased'),
  SERVER_FAULTS.held('leased'),
  leased({
    name: 'restarted from a snapshot that is trusted',
    trustAfterFailover: true,
    start: () => ServerSite.start(),
    strike: async ({ site, traffic }) => {
      // What it is trusted for: it has every id that was acknowledged.
      const { adders } = traffic;
      traffic.adders = new Set();
      await delay(drainOf('leased'));
      await site.admin.save();
      await site.server.kill();
      await site.server.restart();
      traffic.adders = adders;
      await delay(OUTAGE_MS);
    },
  }),
  leased({
    name: 'reader stopped past its lease (SIGSTOP), continued',
    quick: true,
    start: () => ServerSite.start(),
    copyLeaseMs: TIMED_LEASE_MS,
    strike: ({ site, instances, copyLeaseMs, remark }) =>
      stopReader({ site, leaseMs: copyLeaseMs, adder: instances[0], remark }),
  }),
  leased({
    name: `${MANY} readers come and go`,
    copyLeaseMs: TIMED_LEASE_MS,
    start: () => ServerSite.start(),
    strike: async ({ site, instances, copyLeaseMs, remark }) => {
      const known: string[] = [];
      let isOver = false;
      const readers = Array.from({ length: MANY }, () => comeAndGo({ site, known, isOver: () => isOver }));
      const times = new AddTimes(site.admin, copyLeaseMs);
      const rebuilding = delay(MANY_MS / 2).then(() => rebuild(instances[1]));
      let named = 0;
      const addInTurn = async () => {
        for (const until = performance.now() + MANY_MS; performance.now() < until;) {
          const id = `come-${named++}`;
          let creating: Promise<void> | undefined;
          const adding = () =>
            new Promise<void>((resolve, reject) => {
              creating = instances[0].shop.create(id, resolve);
              creating.catch(reject);
            });
          if (await times.time(adding)) known.push(id);
          await creating?.catch(() => {});
        }
      };
      // Nearly every add waits for a reader that has gone without a word.
      await Promise.all(Array.from({ length: ADDERS }, addInTurn));
      await rebuilding;
      isOver = true;
      const wrong = (await Promise.all(readers)).reduce((sum, one) => sum + one, 0);
      if (wrong > 0) throw new Error(`They denied ${wrong} times what had been added.`);
      times.judge(remark);
    },
  }),
  leased({
    name: 'feed cut (CLIENT KILL), again and again',
    start: () => ServerSite.start(),
    strike: async ({ site, instances, over }) => {
      const rebuilding = rebuild(instances[0]);
      await again(() => killFeeds(site.admin));
      over();
      await rebuilding;
    },
  }),
  leased({
    name: 'messages cut (CLIENT KILL TYPE pubsub), again and again',
    quick: true,
    start: () => ServerSite.start(),
    strike: async ({ site, instances, over }) => {
      const rebuilding = rebuild(instances[0]);
      await again(() => site.admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub'));
      over();
      await rebuilding;
    },
  }),
  FEED_FAULTS.messagesHeld(true),
  FEED_FAULTS.allHeld(true),
  FEED_FAULTS.acknowledgementsHeld(true),
  leased({
    name: 'feed trimmed while messages are cut, again and again',
    quick: true,
    start: () => ServerSite.start(),
    strike: async ({ site, instances, over, remark }) => {
      const rebuilding = rebuild(instances[0]);
      await again(async () => {
        // Readers need the stream from then on.
        await site.admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
        await trimFor(site.admin, TRIMMED_MS);
      });
      over();
      await rebuilding;
      const gaps = instances.flatMap(({ events }) => events).filter(isGap).length;
      if (gaps === 0) throw new Error('No reader has found a gap.');
      remark(`readers found a gap ${gaps} times`);
    },
  }),
  ...['readers', 'feed'].map((key) =>
    leased({
      name: `key ${key} removed, again and again`,
      start: () => ServerSite.start(),
      strike: ({ site }) => again(() => site.admin.del(`bloom:{${FILTER}}:${key}`)),
    }),
  ),
  leased({
    name: 'connection cut',
    start: () => ProxiedSite.start(),
    strike: async ({ site, instances }) => {
      for (const proxy of site.proxies) proxy.cut();
      await Promise.all([rebuild(instances[2]), delay(OUTAGE_MS)]);
      for (const proxy of site.proxies) proxy.mend();
    },
  }),
  SERVER_FAULTS.promoted('leased'),
  SERVER_FAULTS.failedOver('leased'),
];
