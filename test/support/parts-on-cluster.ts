import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { BloomEvent } from '../../src/common/index.js';
import { partOf } from '../../src/filter/index.js';
import { clusterSlot, type StoredFilter } from '../../src/store/index.js';
import { PartitioningStore } from '../../src/store/partitions/index.js';
import { type BloomRedis, RedisStore } from '../../src/store/redis/index.js';
import { partName } from '../../src/store/redis/meta/redis-keys.js';
import { build, idsOf } from './built-filter.js';
import { eventually } from './eventually.js';
import { expectFound, expectNeverAbsent } from './never-absent.js';
import { openOptions } from './open-options.js';
import { PATIENT } from './patience.js';
import { RedisCluster } from './redis-cluster.js';
import { commandCounts } from './redis-fixture.js';

const PARTITIONS = 16;
const IDS = idsOf('built', 500);

/** A filter that is divided over the masters of a cluster, by a client that is made of the cluster. */
export function describePartsOnCluster(client: string, redisOf: (cluster: RedisCluster) => BloomRedis): void {
  let cluster: RedisCluster;
  const stores: RedisStore[] = [];
  let named = 0;
  let name = '';

  async function open(): Promise<{ filter: StoredFilter; events: BloomEvent[] }> {
    const events: BloomEvent[] = [];
    const emit = (event: BloomEvent) => void events.push(event);
    const store = await RedisStore.connect({
      redis: redisOf(cluster),
      keyPrefix: 'bloom',
      trustAfterFailover: false,
      ...PATIENT,
      emit,
    });
    stores.push(store);
    const filter = new PartitioningStore(store).open(openOptions({ name, emit, partitions: PARTITIONS }));
    return { filter, events };
  }

  /** The number of the master that a part is on. */
  function masterOf(part: number): number {
    return Math.floor((clusterSlot(partName(name, part)) * 3) / 16_384);
  }

  const idOn = (master: number, prefix: string) =>
    idsOf(prefix, 300).filter((id) => masterOf(partOf(id, PARTITIONS)) === master);

  beforeAll(async () => {
    cluster = await RedisCluster.start();
  });
  beforeEach(() => {
    name = `filter-${++named}`;
  });
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await cluster.stop();
  });

  describe(`A partitioned filter on a cluster, with ${client}`, () => {
    it('spreads its parts over all masters', async () => {
      const { filter } = await open();
      await build(filter, IDS);
      for (const { admin } of cluster.masters) {
        const metas = await admin.keys(`bloom:{${name}*}:meta`);
        expect(metas.length).toBeGreaterThanOrEqual(5);
        expect(metas.length).toBeLessThanOrEqual(6);
      }
      expect(await filter.describe()).toMatchObject({ state: 'ready', builtIds: IDS.length });
      await expectFound([filter, (await open()).filter], IDS);
    });

    it('asks one node for one id, by one command, and all nodes at once for many', async () => {
      const { filter } = await open();
      await build(filter, IDS);
      await filter.describe();
      await filter.check(IDS);
      for (const { admin } of cluster.masters) await admin.config('RESETSTAT');
      await filter.check(['one id']);
      const reads = async () =>
        Promise.all(cluster.masters.map(async ({ admin }) => (await commandCounts(admin)).getrange ?? 0));
      expect((await reads()).sort()).toEqual([0, 0, 1]);
      await filter.check(idsOf('other', 200));
      for (const count of await reads()) expect(count).toBeGreaterThan(0);
    });

    it('follows slots that move to other nodes while it is used', async () => {
      const [{ filter }, { filter: other }] = [await open(), await open()];
      await build(filter, IDS);
      await expectFound([filter, other], IDS);
      const added: string[] = [];
      let isMoving = true;
      const using = (async () => {
        while (isMoving) {
          const id = `moved-${added.length}`;
          // One that is rejected promises nothing.
          const isAdded = await filter.add([id]).then(
            () => true,
            () => false,
          );
          if (isAdded) added.push(id);
          await expectNeverAbsent([filter, other], [...added.slice(-5), ...IDS.slice(0, 50)]);
        }
      })();
      for (let part = 0; part < PARTITIONS; part += 3) {
        const [from, to] = [cluster.masters[masterOf(part)]!, cluster.masters[(masterOf(part) + 1) % 3]!];
        const slot = clusterSlot(partName(name, part));
        await cluster.move(slot, from, to);
        await cluster.move(slot, to, from);
      }
      isMoving = false;
      await using;
      for (let part = 0; part < PARTITIONS; part += 3) {
        for (const node of cluster.masters) {
          await eventually('the nodes agree', async () => {
            const master = await cluster.masterOf(clusterSlot(partName(name, part)), node);
            return master === cluster.masters[masterOf(part)];
          });
        }
      }
      expect(added.length).toBeGreaterThan(0);
      await expectNeverAbsent([filter, other], [...IDS, ...added]);
      await build(filter, [...IDS, ...added]);
      await expectFound([filter, other], [...IDS, ...added]);
    });

    it('goes on without the ids of a node that is down, and rebuilds the parts of that node alone', async () => {
      const [{ filter, events }, { filter: other }] = [await open(), await open()];
      await build(filter, IDS);
      await expectFound([filter, other], IDS);
      cluster.masters[0]!.link.hold();
      const late = idOn(0, 'late');
      expect(await filter.add(late)).toContain(true);
      await cluster.masters[0]!.server.kill();

      const gone = await other.check(idOn(0, 'built'));
      expect(new Set(gone)).toEqual(new Set(['unknown']));
      for (const master of [1, 2]) {
        await eventually('the other nodes answer', async () => {
          const verdicts = await other.check([...idOn(master, 'built'), ...idOn(master, 'nobody')]);
          return verdicts.includes('absent') && verdicts.includes('maybe') && !verdicts.includes('unknown');
        });
      }
      const down = (await other.describe()).parts!;
      expect(down.filter((part) => !('state' in part)).map(({ part }) => masterOf(part))).toEqual(
        down.filter(({ part }) => masterOf(part) === 0).map(() => 0),
      );

      await cluster.promote(0);
      await eventually('the parts of the replica are suspect', async () => {
        await expectNeverAbsent([filter, other], [...IDS, ...late]);
        const parts = (await other.describe()).parts!;
        return parts.every(
          (part) => 'state' in part && (masterOf(part.part) !== 0 || part.state === 'suspect'),
        );
      });
      const lease = await filter.lease({
        leaseMs: 60_000,
        occasion: { kind: 'recovery' },
        unless: ({ state }) => (state === 'ready' ? 'It is ready.' : undefined),
      });
      expect(new Set(lease?.parts?.map(masterOf))).toEqual(new Set([0]));
      const staging = await lease!.stage({ capacity: 1000, errorRate: 1e-6, maxIdBytes: 64 });
      for (const id of [...IDS, ...late]) staging.local.addKey(id);
      await staging.merge(new AbortController().signal);
      await staging.commit(IDS.length + late.length);
      await lease!.release({ kind: 'published' });
      await expectFound([filter, other], [...IDS, ...late]);
      for (const part of (await filter.describe()).parts!) {
        const rebuilt = masterOf(part.part) === 0;
        expect(part).toMatchObject({ state: 'ready', builds: rebuilt ? 2 : 1 });
      }
      const suspects = events.filter((event) => event.type === 'state-changed' && event.state === 'suspect');
      expect(new Set(suspects.map(({ part }) => masterOf(part!)))).toEqual(new Set([0]));
    });
  });
}
