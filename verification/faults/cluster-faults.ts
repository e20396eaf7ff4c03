import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../../test/support/eventually.js';
import { ClusterSite } from './cluster-site.js';
import { type Fault, fault, type FaultSpecification } from './fault.js';
import { PARTS } from './filter-kinds.js';
import { LAG_MS } from './timings.js';

const OUTAGE_MS = 500;
/** How long a slot that moves to and fro stays at a node. */
const STAY_MS = 300;

function ofCluster(specification: Pick<FaultSpecification<ClusterSite>, 'name' | 'strike' | 'quick'>): Fault {
  const start = () => ClusterSite.start();
  return fault({ group: 'partitioned', kind: 'partitioned', start, ...specification });
}

/** The first master dies, and its replica takes over. */
async function failOver({ cluster }: ClusterSite): Promise<void> {
  await cluster.masters[0]!.server.kill();
  await cluster.promote(0);
}

export const clusterFaults: readonly Fault[] = [
  ofCluster({
    name: 'slots of all parts move to other nodes (MOVED, ASK)',
    strike: async ({ site, over, remark }) => {
      const { masters } = site.cluster;
      for (let part = 0; part < PARTS; part++) {
        const from = site.masterOf(part);
        await site.cluster.move(site.slotOf(part), masters[from]!, masters[(from + 1) % masters.length]!);
      }
      over();
      remark(`${PARTS} slots moved`);
    },
  }),
  ofCluster({
    name: 'a slot moves to and fro while all instances rebuild',
    strike: async ({ site, instances, over }) => {
      const { cluster } = site;
      const [one, other] = [cluster.masters[0]!, cluster.masters[1]!];
      const slot = site.slotOf(
        Array.from({ length: PARTS }, (_, part) => part).find((part) => site.masterOf(part) === 0)!,
      );
      const rebuilds = instances.map(({ filter }) => filter.rebuild().catch(() => {}));
      for (let turn = 0; turn < 3; turn++) {
        await cluster.move(slot, one, other);
        await delay(STAY_MS);
        await cluster.move(slot, other, one);
        await delay(STAY_MS);
      }
      over();
      await Promise.all(rebuilds);
    },
  }),
  ofCluster({
    name: 'master killed, its replica takes over',
    quick: true,
    strike: ({ site }) => failOver(site),
  }),
  ofCluster({
    name: 'master killed, restarted empty',
    strike: async ({ site: { cluster } }) => {
      const { server } = cluster.masters[0]!;
      await server.kill();
      await delay(OUTAGE_MS);
      await server.restart();
    },
  }),
  ofCluster({
    name: 'replica promoted, adds not replicated',
    quick: true,
    strike: async ({ site }) => {
      site.cluster.masters[0]!.link.hold();
      await delay(LAG_MS);
      await failOver(site);
    },
  }),
  ofCluster({
    name: 'failover in the middle of a rebuild',
    strike: async ({ site, instances, over, remark }) => {
      let phase = '';
      const ended = instances[0].filter.rebuild({ onProgress: (progress) => (phase = progress.phase) }).then(
        (report) => report.outcome,
        (error: unknown) => String(error),
      );
      await eventually('all parts are staged', () => phase === 'draining');
      site.cluster.masters[0]!.link.hold();
      await delay(LAG_MS / 2);
      await failOver(site);
      over();
      remark(await ended);
    },
  }),
  ofCluster({
    name: 'a node out of reach of two instances, what was held arrives later',
    strike: async ({ site, instances, remark }) => {
      site.door.hold();
      await delay(2 * OUTAGE_MS);
      const { parts = [] } = await instances[2].filter.info();
      remark(
        `${parts.filter(({ state }) => state === 'ready').length} of ${PARTS} parts ready for the third`,
      );
      site.door.release();
    },
  }),
  ofCluster({
    name: 'a node out of reach of two instances, its connections end',
    strike: async ({ site }) => {
      site.door.cut();
      await delay(2 * OUTAGE_MS);
      site.door.mend();
    },
  }),
];
