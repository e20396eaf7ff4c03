import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { partOf } from '../../../src/filter/index.js';
import { build, commitIds, idsOf, testPlan } from '../../support/built-filter.js';
import { eventually } from '../../support/eventually.js';
import { isPending, openLeased } from '../../support/leased-reader.js';
import {
  idsIn,
  isLeased,
  keyOf,
  openParts,
  PARTITIONS,
  type PartsOptions,
  type PartsProcess,
  untilLeased,
} from '../../support/leased-parts.js';
import { commandCounts, RedisFixture } from '../../support/redis-fixture.js';
import { asUser } from '../../support/restricted-user.js';

const BUILT = idsOf('built', 300);
const PARTS = Array.from({ length: PARTITIONS }, (_, part) => part);
const LEASE_MS = 400;
/** No lease ends while a test runs. */
const LONG_MS = 60_000;

let redis: RedisFixture;
let admin: Redis;
let name: string;
let opened: { close(): Promise<void> }[];
beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterAll(() => redis.close());
beforeEach(async () => {
  name = redis.name();
  opened = [];
  await build((await add()).filter, BUILT);
});
afterEach(async () => {
  await Promise.all(opened.map((one) => one.close()));
});

async function open(options: PartsOptions): Promise<PartsProcess> {
  const process = await openParts(redis, name, options);
  opened.push(process);
  return process;
}

/** A process that adds and builds, and knows of leases. */
const add = (leaseMs = LEASE_MS) => open({ filter: { leaseMs } });

async function read(leaseMs = LEASE_MS): Promise<PartsProcess> {
  const process = await open({ filter: { replica: 'leased', leaseMs } });
  await untilLeased(process);
  return process;
}

/** Readers of some parts that acknowledge only what they are told to. */
async function readBySteps(parts: readonly number[]) {
  const readers = [];
  for (const index of parts) {
    const reader = await openLeased(redis, name, { part: { index, of: PARTITIONS } });
    opened.push(reader);
    await reader.join();
    readers.push(reader);
  }
  return readers;
}

const lapsed = (reason: string) => reason.includes('not renewed in time');

/** What a process says at once. */
const says = ({ filter }: PartsProcess, id: string) => filter.checkOne(id);

describe('A partitioned filter that is read with leases', () => {
  it('is answered "absent" without a command, in whatever part an id is', async () => {
    const reader = await read(LONG_MS);
    await admin.config('RESETSTAT');
    for (const id of idsOf('nobody', 400)) expect(says(reader, id)).toBe('absent');
    for (const id of BUILT) expect(says(reader, id)).toBe('maybe');
    const asked = idsOf('nobody', 40).flatMap((id, i) => [id, BUILT[i]!]);
    const verdicts = asked.map((_, i) => (i % 2 === 0 ? 'absent' : 'maybe'));
    expect(await reader.filter.check(asked)).toEqual(verdicts);
    const { getrange, evalsha } = await commandCounts(admin);
    expect({ getrange, evalsha }).toEqual({});
  });

  it('knows an id when its add has resolved, whoever added it, one or many', async () => {
    const [one, two, adder] = [await read(), await read(), await add()];
    for (let i = 0; i < 60; i++) {
      const ids = idsOf(`late-${i}`, i % 2 === 0 ? 1 : 20);
      await [one, two, adder][i % 3]!.filter.add(ids);
      for (const id of ids) expect([says(one, id), says(two, id)]).not.toContain('absent');
    }
  });

  it('has an add of ids in several parts wait for all of them at once', async () => {
    const adder = await add(LONG_MS);
    const readers = await readBySteps([1, 3]);
    const ids = [...idsIn(1, 'late', 2), ...idsIn(3, 'late', 2), ...idsIn(0, 'late')];
    const added = adder.filter.add(ids);
    for (const reader of readers)
      await eventually('the entry comes while the other part waits', () => reader.entries.length === 1);
    expect(await isPending(added, admin)).toBe(true);
    await readers[0]!.acknowledge();
    expect(await isPending(added, admin)).toBe(true);
    await readers[1]!.acknowledge();
    expect(await added).toEqual(ids.map(() => true));
    // Of a part whose reader has acknowledged all, or that nobody reads, nobody waits for the others.
    const third = adder.filter.add(idsIn(3, 'later'));
    await adder.filter.add(idsIn(0, 'later'));
    await eventually('the entry came', () => readers[1]!.entries.length === 2);
    expect(await isPending(third, admin)).toBe(true);
    await readers[1]!.acknowledge();
    await third;
  });

  it('has a rebuild swap all parts before it waits for readers, which it waits for together', async () => {
    const adder = await add(LONG_MS);
    const readers = await readBySteps(PARTS);
    const lease = await adder.filter.lease({ leaseMs: LONG_MS });
    const staging = await lease!.stage(testPlan());
    const committed = commitIds(staging, BUILT);
    for (const reader of readers) {
      await reader.copyStaging();
      await eventually('the part is swapped', () => reader.entries.length === 1);
    }
    for (const reader of readers) {
      expect(await isPending(committed, admin)).toBe(true);
      await reader.acknowledge();
    }
    await committed;
    await lease!.release();
  });

  it('asks Redis for the part alone that is lost, and the copies answer for the others', async () => {
    const reader = await read(LONG_MS);
    const lost = 2;
    await admin.del(...(await admin.keys(keyOf(name, lost, '*'))));
    // What becomes of the lease is found by the next renewal, or by whoever looks.
    await reader.filter.parts[lost]!.describe();
    await eventually('the part is not leased', () => !isLeased(reader, lost));
    for (const part of PARTS) {
      const [id] = idsIn(part, 'nobody');
      if (part === lost) expect(await says(reader, id!)).not.toBe('absent');
      else expect(says(reader, id!)).toBe('absent');
    }
    const mixed = PARTS.flatMap((part) => idsIn(part, 'nobody'));
    const verdicts = await reader.filter.check(mixed);
    expect(verdicts.map((verdict) => verdict === 'absent')).toEqual(PARTS.map((part) => part !== lost));
    expect(reader.filter.copyLease).toMatchObject({
      isLeased: false,
      cause: expect.any(String),
      parts: { leased: PARTITIONS - 1, of: PARTITIONS },
    });
    expect(reader.events).toContainEqual(
      expect.objectContaining({ type: 'copy-unleased', filter: name, part: lost }),
    );
    const { parts } = await reader.filter.describe();
    expect(parts!.map(({ copyLease }) => copyLease!.isLeased)).toEqual(PARTS.map((part) => part !== lost));
  });

  it('is followed where a part is built again, and no lease ends', async () => {
    const [reader, adder] = [await read(), await add()];
    await eventually('the copies are leased', () => isLeased(reader));
    const before = PARTS.map((part) => reader.filter.parts[part]!.generation);
    reader.events.length = 0;
    const id = idsIn(1, 'new')[0]!;
    const builtOf = (await adder.filter.describe()).parts!.map((part) => 'builds' in part && part.builds);
    const lease = await adder.filter.parts[1]!.lease({ leaseMs: LONG_MS });
    await commitIds(await lease!.stage(testPlan()), [id]);
    await lease!.release();
    expect(says(reader, id)).toBe('maybe');
    const isSame = () => PARTS.map((part) => reader.filter.parts[part]!.generation === before[part]);
    await eventually('the process knows of it', () => !isSame()[1]);
    expect(isSame()).toEqual([true, false, true, true]);
    expect((await adder.filter.describe()).parts!.map((part) => 'builds' in part && part.builds)).toEqual(
      builtOf.map((builds, part) => Number(builds) + (part === 1 ? 1 : 0)),
    );
    const ended = reader.events.filter((event) => event.type === 'copy-unleased' && !lapsed(event.reason));
    expect(ended).toEqual([]);
  });

  it.each(['readers', 'feed', 'meta', '0', '*'])(
    'denies nothing that was added after the key %s of a part was lost',
    async (key) => {
      const [one, two, adder] = [await read(), await read(), await add()];
      for (const part of PARTS) {
        const lost = await admin.keys(keyOf(name, part, key));
        if (lost.length > 0) await admin.del(...lost);
        const ids = PARTS.flatMap((of) => idsIn(of, `late-${part}`));
        await adder.filter.add(ids);
        for (const id of ids) expect([says(one, id), says(two, id)]).not.toContain('absent');
        const mine = idsIn(part, `mine-${part}`)[0]!;
        await one.filter.add([mine]);
        expect(says(two, mine)).not.toBe('absent');
      }
    },
  );

  it('has nobody wait for a process that was closed', async () => {
    const [one, adder] = [await read(30_000), await add()];
    for (const part of PARTS) expect(await admin.zcard(keyOf(name, part, 'readers'))).toBe(3);
    await one.close();
    for (const part of PARTS) expect(await admin.zcard(keyOf(name, part, 'readers'))).toBe(1);
    await adder.filter.add(idsOf('late', 20));
  });

  it('says once why no part has a lease', async () => {
    const rules = ['+@all', '-info', '~*', '&*'];
    const user = await asUser(redis, admin, rules);
    const reader = await open({ filter: { replica: 'leased', leaseMs: LEASE_MS }, store: { redis: user } });
    await eventually('no part has a lease', async () => {
      await reader.filter.describe();
      return PARTS.every((part) => reader.filter.parts[part]!.status.state === 'ready');
    });
    await eventually('all parts were refused one', async () => {
      await reader.filter.describe();
      const { parts = [] } = await reader.filter.describe();
      return parts.every(({ copyLease }) => copyLease?.cause === 'refused');
    });
    const advice = reader.events.filter(({ type }) => type === 'advice');
    expect(advice).toEqual([expect.objectContaining({ text: expect.stringContaining('INFO') })]);
    expect(await says(reader, 'nobody')).toBe('absent');
  });

  it('counts delays of adds over all parts, and reports them once', async () => {
    const leaseMs = 300;
    name = redis.name();
    const adder = await add(leaseMs);
    await build(adder.filter, BUILT);
    const delays = () => adder.events.filter(({ type }) => type === 'adds-delayed');
    for (let round = 0; delays().length === 0; round++) {
      const part = round % PARTITIONS;
      const stopped = await openLeased(redis, name, { leaseMs, part: { index: part, of: PARTITIONS } });
      await stopped.join();
      await adder.filter.add(idsIn(part, `round-${round}`));
      await stopped.close();
    }
    expect(delays()).toEqual([expect.objectContaining({ times: 3, filter: name })]);
  });
});

describe('Parts whose keys are lost at random', () => {
  it('are denied nothing that was acknowledged, through adds, rebuilds and losses', async () => {
    const [one, two, adder] = [await read(), await read(), await add()];
    const readers = [one, two];
    const rows = [...BUILT];
    const known: string[] = [];
    const wrong: string[] = [];
    let absents = 0;
    let isOver = false;
    const ask = (id: string) => {
      for (const reader of readers) if (says(reader, id) === 'absent') wrong.push(`${id} ${partOf(id, 4)}`);
    };
    const adding = readers.concat(adder).map(async ({ filter }, n) => {
      for (let i = 0; i < 50 || (absents === 0 && i < 10_000); i++) {
        const ids = [...idsOf(`late-${n}-${i}`, 4), `same-${i}`];
        rows.push(...ids);
        // A part whose metadata are lost takes no add while nobody has built it again.
        const isAdded = await filter.add(ids).then(
          () => true,
          () => false,
        );
        if (isAdded) ids.forEach(ask);
        if (isAdded) known.push(...ids);
        known.slice(-20).forEach(ask);
        await new Promise(setImmediate);
      }
    });
    const disturbing = (async () => {
      for (let i = 0; !isOver; i++) {
        const key = ['readers', 'meta', 'feed', '0', '*'][i % 5]!;
        const lost = await admin.keys(keyOf(name, i % PARTITIONS, key));
        if (lost.length > 0) await admin.del(...lost);
        await rebuild(i % 2 === 0 ? adder : one, rows);
        await untilLeased(...readers);
        if (says(two, 'nobody') === 'absent') absents++;
      }
    })();
    await Promise.all(adding);
    isOver = true;
    await disturbing;
    await rebuild(adder, rows);
    await untilLeased(...readers);
    known.forEach(ask);
    expect(wrong).toEqual([]);
    expect(absents).toBeGreaterThan(0);
    expect(known.length).toBeGreaterThan(0);
  });

  /** A rebuild whose source is read when its staging has been published: rows are visible before their add is called. */
  async function rebuild({ filter }: PartsProcess, rows: readonly string[]): Promise<void> {
    const lease = await filter.lease({ leaseMs: LONG_MS });
    if (!lease) return;
    try {
      await commitIds(await lease.stage(testPlan({ capacity: 20_000 })), rows.slice());
    } finally {
      await lease.release();
    }
  }
});
