import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Redis } from 'ioredis';
import type { BloomEvent } from '../../../../../src/common/index.js';
import type { LookupOutcome, StoredFilter } from '../../../../../src/store/index.js';
import { CopyScripts } from '../../../../../src/store/redis/blocked/copies/copy-scripts.js';
import { LocalCopyStore } from '../../../../../src/store/local-copy/index.js';
import { LEASE_LAPSED } from '../../../../../src/store/local-copy/local-copy.messages.js';
import { build, commitIds, idsOf, leaseOf, testPlan } from '../../../../support/built-filter.js';
import { eventually } from '../../../../support/eventually.js';
import { isPending, openLeased } from '../../../../support/leased-reader.js';
import { openOptions } from '../../../../support/open-options.js';
import { RedisFixture } from '../../../../support/redis-fixture.js';

const LEASE_MS = 1000;
/** Ends in no test. */
const LONG_MS = 60_000;
const KEPT = idsOf('kept', 200);
const REMOVED = idsOf('removed', 50);
const NEW = idsOf('new', 50);

interface Reader {
  readonly filter: StoredFilter;
  readonly events: BloomEvent[];
}

let redis: RedisFixture;
let admin: Redis;
let name: string;
let opened: { close(): Promise<unknown> }[];
beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterAll(() => redis.close());
beforeEach(async () => {
  name = redis.name();
  opened = [];
});
afterEach(async () => {
  jest.restoreAllMocks();
  await Promise.all(opened.map((one) => one.close()));
});

/** A process that adds and rebuilds. */
async function rebuilder(): Promise<StoredFilter> {
  const instance = await redis.open(name, {}, { leaseMs: LEASE_MS, drainMs: 0 });
  opened.push(instance);
  return instance.filter;
}

async function read(maxBytes = Infinity): Promise<Reader> {
  const instance = await redis.open(name);
  const events: BloomEvent[] = [];
  const emit = (event: BloomEvent) => void events.push(event);
  const filter = new LocalCopyStore(instance.store, { bytesPerSecond: Infinity, maxBytes }).open(
    openOptions({ name, emit, replica: 'leased', leaseMs: LEASE_MS, drainMs: 0 }),
  );
  opened.push({ close: () => filter.close().then(() => instance.close()) });
  const reader = { filter, events };
  await eventually('the copy is leased', async () => {
    if (!isLeased(reader)) await filter.check(['nobody']);
    return isLeased(reader);
  });
  return reader;
}

const isLeased = ({ filter }: Reader) => filter.copyLease?.isLeased === true;

/** Reasons for which a copy lost its lease, but for that of a machine that is busy. */
const lossesOf = ({ events }: Pick<Reader, 'events'>) =>
  events.flatMap((event) =>
    event.type === 'copy-unleased' && event.reason !== LEASE_LAPSED.reason ? [event.reason] : [],
  );

/**
 * Looks up all the time while something goes on: ids that must not be absent, and one that is. Answers of the
 * copy alone are no promises.
 */
async function lookingUp(
  readers: readonly Reader[],
  known: readonly string[],
  work: Promise<unknown>,
): Promise<{ wrong: number; remote: number }> {
  const counts = { wrong: 0, remote: 0 };
  const judge = (id: string, outcome: LookupOutcome) => {
    if (id !== 'nobody' && outcome === 'absent') counts.wrong++;
  };
  let isOver = false;
  const end = () => (isOver = true);
  work.then(end, end);
  while (!isOver) {
    for (const reader of readers) {
      for (const id of [...known, 'nobody']) {
        const outcome = reader.filter.checkOne(id);
        if (typeof outcome === 'string') judge(id, outcome);
        else {
          // On a machine that is busy a lease may lapse.
          if (isLeased(reader)) counts.remote++;
          judge(id, await outcome);
        }
      }
    }
    await new Promise(setImmediate);
  }
  await work;
  return counts;
}

async function settledLookup({ filter }: Reader, id: string): Promise<LookupOutcome> {
  return filter.checkOne(id);
}

async function fieldsOfStaging(): Promise<string[]> {
  const meta = await admin.hgetall(`bloom:{${name}}:meta`);
  return Object.keys(meta).filter((field) => /^pending\.(announced|ready)/.test(field));
}

/** A process that has a lease, and neither copies nor renews. */
async function joinsAndDies(leaseMs: number): Promise<void> {
  const process = await openLeased(redis, name, { leaseMs });
  opened.push(process);
  await process.join();
}

describe('A staging that is announced to readers', () => {
  it('goes live without a lookup that asks Redis, twice in a row', async () => {
    const other = await rebuilder();
    await build(other, [...KEPT, ...REMOVED]);
    const readers = [await read(), await read()];
    for (const ids of [
      [...KEPT, ...NEW],
      [...KEPT, ...NEW, 'newest'],
    ]) {
      expect(await lookingUp(readers, KEPT, build(other, ids))).toEqual({ wrong: 0, remote: 0 });
      for (const reader of readers) {
        for (const id of ids) expect(await settledLookup(reader, id)).toBe('maybe');
        expect(lossesOf(reader)).toEqual([]);
      }
    }
    for (const reader of readers) {
      await eventually('absent ids are denied without a question', () => {
        return isLeased(reader) && REMOVED.every((id) => reader.filter.checkOne(id) === 'absent');
      });
    }
  });

  it('may be larger than the generation before', async () => {
    const other = await rebuilder();
    await build(other, KEPT);
    const reader = await read();
    const ids = [...KEPT, ...NEW];
    const work = build(other, ids, { capacity: 700_000 });
    expect(await lookingUp([reader], KEPT, work)).toEqual({ wrong: 0, remote: 0 });
    for (const id of ids) expect(await settledLookup(reader, id)).toBe('maybe');
    expect(lossesOf(reader)).toEqual([]);
  });

  it('has the ids of adds before, while and after it is announced', async () => {
    const [other, adder] = [await rebuilder(), await rebuilder()];
    await build(other, KEPT);
    const readers = [await read(), await read()];
    const begun: string[] = [];
    const acknowledged: string[] = [];
    let isOver = false;
    const adding = async (filter: StoredFilter, prefix: string) => {
      for (let i = 0; !isOver; i++) {
        const id = `${prefix}-${i}`;
        begun.push(id);
        await filter.add([id]);
        acknowledged.push(id);
        for (const { filter: asked } of readers) expect(asked.checkOne(id)).not.toBe('absent');
        // One that is there already.
        await filter.add([id]);
      }
    };
    const adders = [adding(adder, 'other'), adding(readers[0]!.filter, 'own')];
    await eventually('ids were added before', () => acknowledged.length > 10);
    for (let rebuilds = 0; rebuilds < 2; rebuilds++) {
      const lease = await leaseOf(other);
      const staging = await lease.stage(testPlan({ capacity: 100_000 }));
      // From here on adds are written to the staging too.
      await commitIds(staging, [...KEPT, ...begun]);
      await lease.release();
    }
    const before = acknowledged.length;
    await eventually('ids were added after', () => acknowledged.length > before + 10);
    isOver = true;
    await Promise.all(adders);
    for (const reader of readers) {
      for (const id of acknowledged) expect(await settledLookup(reader, id)).toBe('maybe');
      expect(lossesOf(reader)).toEqual([]);
    }
  });

  it('is not waited for by a reader that has no room for a second copy', async () => {
    const other = await rebuilder();
    await build(other, KEPT);
    const bytes = Number(await admin.strlen(`bloom:{${name}}:0`));
    const reader = await read(1.5 * bytes);
    // Waits for this one alone.
    await joinsAndDies(LONG_MS);
    const work = build(other, [...KEPT, ...NEW]);
    await eventually('the reader says that it will have no copy', async () => {
      const fields = await fieldsOfStaging();
      return fields.includes('pending.announced') && fields.length === 2;
    });
    await forgetDead();
    await work;
    for (const id of [...KEPT, ...NEW]) expect(await settledLookup(reader, id)).toBe('maybe');
  });

  it('waits for the lease of a reader that died, and no longer', async () => {
    const other = await rebuilder();
    await build(other, KEPT);
    await joinsAndDies(LONG_MS);
    const work = build(other, [...KEPT, ...NEW]);
    await eventually('it is announced', async () => (await fieldsOfStaging()).includes('pending.announced'));
    expect(await isPending(work, admin)).toBe(true);
    const [lease] = await deadLeases();
    await admin.zadd(`bloom:{${name}}:readers`, Date.now() - 1, lease!);
    await work;
    expect(await fieldsOfStaging()).toEqual([]);
  });

  it.each([false, true])(
    'goes live as one that readers have copied, unless the filter was offline meanwhile (%s)',
    async (isTakenOffline) => {
      const adder = await rebuilder();
      await build(adder, KEPT);
      const reader = await openLeased(redis, name, { leaseMs: LEASE_MS });
      opened.push(reader);
      const { list, number } = await reader.join();
      const lease = await leaseOf(adder);
      const staging = await lease.stage(testPlan());
      const committed = commitIds(staging, KEPT);
      await eventually('the staging is announced', async () => {
        const reply = await reader.leases.take({ list, applied: number });
        return reply.outcome === 'granted' && reply.announced !== undefined;
      });
      if (isTakenOffline) {
        await admin.del(`bloom:{${name}}:0`);
        expect(await adder.check(KEPT)).not.toContain('absent');
        expect((await adder.describe()).state).toBe('lost');
        // Written to the staging alone, and so no entry.
        await adder.add(NEW);
      }
      await committed;
      await lease.release();
      await eventually('the entry of the swap came', () => reader.entries.length === 1);
      const [entry] = reader.entries;
      expect(entry!.places).toBeUndefined();
      expect(entry!.staged).toBe(isTakenOffline ? undefined : entry!.tag);
    },
  );

  it('is none where nobody has ever read with a lease', async () => {
    const announce = jest.spyOn(CopyScripts.prototype, 'announce');
    const { filter, close } = await redis.open(name, {}, { drainMs: 0 });
    opened.push({ close });
    await build(filter, KEPT);
    await build(filter, NEW);
    expect(announce).not.toHaveBeenCalled();
  });

  it('is waited for by nobody when all readers are gone', async () => {
    const other = await rebuilder();
    await build(other, KEPT);
    await (await read()).filter.close();
    const announce = jest.spyOn(CopyScripts.prototype, 'announce');
    await build(other, NEW);
    expect(announce).toHaveBeenCalledTimes(1);
    for (const { value } of announce.mock.results) expect(await value).toBe(0);
  });
});

async function deadLeases(): Promise<string[]> {
  const members = await admin.zrangebyscore(`bloom:{${name}}:readers`, '-inf', '+inf');
  const ready = (await fieldsOfStaging()).map((field) => field.replace('pending.ready:', 'e:'));
  return members.filter((member) => member.startsWith('e:') && !ready.includes(member));
}

/** Ends the leases of those that have not said that they are ready. */
async function forgetDead(): Promise<void> {
  for (const lease of await deadLeases())
    await admin.zrem(`bloom:{${name}}:readers`, lease, lease.replace('e:', 'a:'));
}
