import { setTimeout as delay } from 'node:timers/promises';
import { type Fault, fault } from './fault.js';
import { ReplicatedSite } from './redis-site.js';
import { SERVER_FAULTS } from './server-faults.js';
import { LAG_MS } from './timings.js';

const OUTAGE_MS = 500;
/** By then a process that only looks up has seen that its server is a replica. */
const NOTICED_AFTER_MS = 2000;

async function promoteReplica(site: ReplicatedSite): Promise<void> {
  await site.lag();
  await site.promote();
}

/** As of a managed Redis: its name leads to the replica that takes over, and nobody's connection ends. */
const demotions = [
  { name: 'master demoted, its connections stay, its address leads to the new one', addsMeanwhile: false },
  { name: 'the same while all instances add', addsMeanwhile: true },
].map(({ name, addsMeanwhile }) =>
  fault({
    name,
    group: 'redis',
    quick: !addsMeanwhile,
    isBeyond: addsMeanwhile,
    start: () => ReplicatedSite.start(),
    strike: async ({ site, traffic, over, remark }) => {
      const { adders } = traffic;
      if (!addsMeanwhile) traffic.adders = new Set();
      await delay(LAG_MS);
      await site.promote();
      await site.masterAdmin.call('REPLICAOF', site.replica.host, String(site.replica.port));
      site.turn(site.replica);
      over();
      if (addsMeanwhile) return;
      await delay(NOTICED_AFTER_MS);
      traffic.adders = adders;
      remark(`nobody added for ${NOTICED_AFTER_MS} ms`);
    },
  }),
);

export const failoverFaults: readonly Fault[] = [
  ...demotions,
  fault({
    name: 'replica promoted, adds not replicated',
    group: 'redis',
    quick: true,
    start: () => ReplicatedSite.start(),
    strike: async ({ site }) => {
      await promoteReplica(site);
      await site.master.kill();
      site.lead(site.replica);
    },
  }),
  SERVER_FAULTS.promoted('blocked'),
  fault({
    name: 'replica promoted, the old master follows it',
    group: 'redis',
    start: () => ReplicatedSite.start(),
    strike: async ({ site }) => {
      await promoteReplica(site);
      site.lead(site.replica);
      await site.masterAdmin.call('REPLICAOF', site.replica.host, String(site.replica.port));
      await delay(OUTAGE_MS);
      await site.masterAdmin.call('REPLICAOF', 'NO', 'ONE');
      await site.replica.kill();
      site.lead(site.master);
    },
  }),
  fault({
    name: 'master hangs, its address leads to the new one',
    group: 'redis',
    start: () => ReplicatedSite.start(),
    strike: async ({ site }) => {
      await promoteReplica(site);
      await site.master.kill('SIGSTOP');
      site.turn(site.replica);
    },
  }),
  SERVER_FAULTS.failedOver('blocked'),
  fault({
    name: 'promoted and back: both masters took writes',
    group: 'redis',
    isBeyond: true,
    start: () => ReplicatedSite.start(),
    strike: async ({ site }) => {
      await promoteReplica(site);
      site.lead(site.replica);
      await delay(LAG_MS);
      site.lead(site.master);
    },
  }),
  ...['all instances add', 'only the other instance adds'].map((who, i) =>
    fault({
      name: `demoted by hand, its clients stay; ${who}`,
      group: 'redis',
      isBeyond: true,
      start: () => ReplicatedSite.start(),
      strike: async ({ site, instances, traffic, remark }) => {
        if (i === 1) traffic.adders = new Set([instances[2]]);
        await promoteReplica(site);
        // It follows a server that it cannot reach: it keeps what it had.
        await site.masterAdmin.call('REPLICAOF', site.link.target.host, '1');
        site.lead(site.replica, [site.doors[1]]);
        await delay(4 * OUTAGE_MS);
        remark(`the old master answered for ${4 * OUTAGE_MS} ms`);
        site.lead(site.replica, [site.doors[0]]);
      },
    }),
  ),
];
