import { setTimeout as delay } from 'node:timers/promises';
import type { BloomId, BloomRebuildFailure } from 'nestjs-bloom';
import { eventually } from '../../test/support/eventually.js';
import { type Fault, fault } from './fault.js';
import { rebuild, expectRebuildToFail } from './rebuilds.js';
import { ServerSite } from './redis-site.js';
import { DRAIN_MS } from './timings.js';
import { readInBatches, type ShopDatabase } from './shop-database.js';
import type { ShopInstance } from './shop-instance.js';

const SMALL_CAPACITY = 2000;
const CREATES_AT_A_TIME = 200;

type Reading = ShopDatabase['reading'];

/** The source misbehaves once: the filter that was live stays, and the next rebuild is sound. */
function misread(
  name: string,
  reading: Reading,
  expected: BloomRebuildFailure,
  options: { quick?: boolean } = {},
): Fault {
  return fault({
    name,
    group: 'rebuild',
    start: () => ServerSite.start(),
    ...options,
    strike: async ({ table, instances, over }) => {
      const sound = table.reading;
      table.reading = reading;
      await expectRebuildToFail(instances[0], expected);
      table.reading = sound;
      over();
      await rebuild(instances[1]);
    },
  });
}

export const sourceFaults: readonly Fault[] = [
  misread(
    'source throws',
    () => {
      throw new Error('no such table');
    },
    'source-failed',
  ),
  misread(
    'source ends early with an error',
    async function* (ids) {
      yield* readInBatches(ids.slice(0, ids.length / 2));
      throw new Error('connection to the database lost');
    },
    'source-failed',
    { quick: true },
  ),
  misread('source returns nothing', async function* () {}, 'too-few-ids', { quick: true }),
  misread('source returns a third', (ids) => readInBatches(ids.slice(0, ids.length / 3)), 'too-few-ids'),
  misread(
    'source returns bad ids',
    async function* (ids) {
      yield* readInBatches(ids);
      yield [{ id: 1 } as unknown as BloomId, ''];
    },
    'bad-id',
  ),
  fault({
    name: 'source hangs, the rebuild is told to stop',
    group: 'rebuild',
    quick: true,
    start: () => ServerSite.start(),
    strike: async ({ table, instances, over }) => {
      const sound = table.reading;
      table.reading = async function* (ids) {
        yield* readInBatches(ids);
        await new Promise(() => {});
      };
      const stop = new AbortController();
      const hung = expectRebuildToFail(instances[0], 'aborted', stop.signal);
      await delay(1000);
      const meanwhile = await instances[1].filter.rebuild();
      if (meanwhile.outcome !== 'skipped') throw new Error('Two rebuilds ran at once.');
      stop.abort(new Error('It took too long.'));
      await hung;
      table.reading = sound;
      over();
      await rebuild(instances[1]);
    },
  }),
  fault({
    name: 'source returns ten times the capacity',
    group: 'rebuild',
    quick: true,
    start: () => ServerSite.start(),
    strike: async ({ table, instances, capacity }) => {
      table.reading = async function* (ids) {
        yield Array.from({ length: 10 * capacity }, (_, i) => `more-${i}`);
        yield* readInBatches(ids);
      };
      await rebuild(instances[0]);
      const { capacity: grown } = await instances[1].filter.info();
      if (grown < 10 * capacity) throw new Error(`Expected a filter ten times the size, got ${grown}.`);
    },
  }),
  fault({
    name: 'source returns duplicates',
    group: 'rebuild',
    start: () => ServerSite.start(),
    strike: async ({ table, instances }) => {
      table.reading = async function* (ids) {
        for (let i = 0; i < 3; i++) yield* readInBatches([...ids, ...ids]);
      };
      await rebuild(instances[0]);
    },
  }),
  fault({
    name: 'creates slower than drainMs, with a rebuild in between',
    group: 'rebuild',
    quick: true,
    start: () => ServerSite.start(),
    // Not ids of the traffic: before they are visible they may be absent.
    strike: async ({ table, instances }) => {
      const ids = Array.from({ length: 20 }, (_, i) => `slow-${i}`);
      for (const id of ids) table.commitMs.set(id, 4 * DRAIN_MS);
      const creates = ids.map((id, i) => instances[i % instances.length]!.shop.create(id, () => {}));
      await rebuild(instances[0]);
      await Promise.all(creates);
      for (const { shop } of instances) {
        const found = await Promise.all(ids.map((id) => shop.find(id)));
        const absent = found.filter((row) => row === null).length;
        if (absent > 0)
          throw new Error(`${absent} of ${ids.length} rows whose create had returned were absent.`);
      }
    },
  }),
  fault({
    name: 'failing creates, 10 × capacity',
    group: 'rebuild',
    alone: true,
    capacity: SMALL_CAPACITY,
    start: () => ServerSite.start(),
    strike: async ({ instances, over, remark }) => {
      const attacked = instances[2];
      const told = () => attacked.events.filter(({ type }) => type === 'overfull').length;
      let passedAt = 0;
      for (let sent = 0; sent < 10 * SMALL_CAPACITY; sent += CREATES_AT_A_TIME) {
        const creates = Array.from({ length: CREATES_AT_A_TIME }, (_, i) =>
          attacked.shop.create(`junk-${sent + i}`, () => {
            throw new Error('No such category.');
          }),
        );
        await Promise.allSettled(creates);
        if (passedAt === 0 && sent >= SMALL_CAPACITY) passedAt = performance.now();
        if (passedAt > 0 && told() === 0 && performance.now() - passedAt > 1000)
          throw new Error('The filter is full, and no event had told so a second later.');
      }
      await eventually('overfull', () => told() > 0, 1000);
      const { count, modelledErrorRate } = await attacked.filter.info();
      const builds = instances.flatMap(({ events }) =>
        events.filter(({ type }) => type === 'rebuild-finished'),
      );
      // The one that made the filter, and one at most that the attack has bought.
      if (builds.length > 2) throw new Error(`Expected one rebuild at most, got ${builds.length - 1}.`);
      remark(
        `${count} ids counted, ${(100 * modelledErrorRate!).toFixed(1)} % of absent ids pass, told ${told()} times`,
      );
      over();
      await rebuild(instances[0]);
    },
  }),
  fault({
    name: 'database down',
    group: 'rebuild',
    start: () => ServerSite.start(),
    strike: async ({ table, instances, over }) => {
      table.isDown = true;
      await expectRebuildToFail(instances[0], 'source-failed');
      await delay(200);
      table.isDown = false;
      over();
      await rebuild(instances[1]);
    },
  }),
  fault({
    name: 'database down, then FLUSHALL',
    group: 'rebuild',
    start: () => ServerSite.start(),
    strike: async ({ site, table }) => {
      table.isDown = true;
      await site.admin.flushall();
      await delay(500);
      table.isDown = false;
    },
  }),
  fault({
    name: 'two rebuilds at once',
    group: 'rebuild',
    quick: true,
    start: () => ServerSite.start(),
    strike: async ({ instances, over }) => {
      for (let round = 0; round < 3; round++) {
        const outcomes = await outcomesAtOnce(instances);
        const published = outcomes.filter((outcome) => outcome === 'published').length;
        // On a machine that is busy the one that has the lease may lose it.
        if (published > 1 || (published === 0 && !outcomes.includes('failed')))
          throw new Error(`Expected one rebuild to publish, got ${published}.`);
        over();
      }
    },
  }),
];

function outcomesAtOnce(instances: readonly ShopInstance[]): Promise<string[]> {
  return Promise.all(
    instances.map(({ filter }) =>
      filter.rebuild().then(
        ({ outcome }) => outcome,
        () => 'failed',
      ),
    ),
  );
}
