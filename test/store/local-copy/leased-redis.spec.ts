import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { setTimeout as delay } from 'node:timers/promises';
import type { BloomEvent } from '../../../src/common/index.js';
import type { StoredFilter } from '../../../src/store/index.js';
import { LocalCopyStore } from '../../../src/store/local-copy/index.js';
import { build, commitIds, idsOf, leaseOf, type TestPlan, testPlan } from '../../support/built-filter.js';
import { eventually } from '../../support/eventually.js';
import { openOptions } from '../../support/open-options.js';
import { commandCounts, type Instance, RedisFixture } from '../../support/redis-fixture.js';

const BUILT = idsOf('built', 300);
const SMALL = { capacity: 1000 };
/** Three segments. */
const LARGE = { capacity: 700_000 };
const LEASE_MS = 1000;
/** After so many of one process a reader must have had a lease, however slow the machine is. */
const MOST_ADDS = 20_000;

interface Reader {
  readonly filter: StoredFilter;
  readonly events: BloomEvent[];
  readonly instance: Instance;
}

let redis: RedisFixture;
let admin: Redis;
let name: string;
let readers: Reader[];
beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterAll(() => redis.close());
beforeEach(async () => {
  name = redis.name();
  readers = [];
  await build(await add(), BUILT, SMALL);
});
afterEach(async () => {
  for (const { filter, instance } of readers) {
    await filter.close();
    await instance.close();
  }
});

/** A process that adds and builds, and knows of leases. */
async function add(): Promise<StoredFilter> {
  return (await redis.open(name, {}, { leaseMs: LEASE_MS, drainMs: 0 })).filter;
}

async function read(leaseMs = LEASE_MS): Promise<Reader> {
  const instance = await redis.open(name);
  const events: BloomEvent[] = [];
  const emit = (event: BloomEvent) => void events.push(event);
  const filter = new LocalCopyStore(instance.store).open(
    openOptions({ name, emit, replica: 'leased', leaseMs, drainMs: 0 }),
  );
  const reader = { filter, events, instance };
  readers.push(reader);
  await leased(reader);
  return reader;
}

const isLeased = ({ filter }: Reader) => filter.copyLease?.isLeased === true;

async function leased(...some: Reader[]): Promise<void> {
  for (const reader of some) {
    await eventually('the copy is leased', async () => {
      if (!isLeased(reader)) await reader.filter.check(['nobody']);
      return isLeased(reader);
    });
  }
}

/** What a reader says at once. */
const says = ({ filter }: Reader, id: string) => filter.checkOne(id);

describe('Readers with leases on one Redis', () => {
  it('answer "absent" without a command', async () => {
    const reader = await read(60_000);
    await admin.config('RESETSTAT');
    for (const id of idsOf('nobody', 500)) expect(says(reader, id)).toBe('absent');
    for (const id of BUILT) expect(says(reader, id)).toBe('maybe');
    expect(await reader.filter.check(['built-1', 'nobody'])).toEqual(['maybe', 'absent']);
    const { getrange, evalsha } = await commandCounts(admin);
    expect({ getrange, evalsha }).toEqual({});
  });

  it('know an id when its add has resolved, whoever added it', async () => {
    const [one, two, adder] = [await read(), await read(), await add()];
    for (let i = 0; i < 100; i++) {
      const id = `late-${i}`;
      await [one.filter, two.filter, adder][i % 3]!.add([id]);
      expect([says(one, id), says(two, id)]).not.toContain('absent');
    }
  });

  it('know the ids of a generation when its commit has resolved, and follow it', async () => {
    const [one, two, adder] = [await read(), await read(), await add()];
    for (const plan of [SMALL, LARGE, SMALL]) {
      const id = `new-${plan.capacity}`;
      await build(adder, [id], plan);
      expect([says(one, id), says(two, id)]).not.toContain('absent');
      await leased(one, two);
      expect([says(one, id), says(two, id)]).toEqual(['maybe', 'maybe']);
      // On a machine that is busy a lease may end between two looks.
      for (const reader of [one, two]) {
        await eventually('absent ids are denied', async () => {
          await leased(reader);
          return says(reader, 'nobody') === 'absent';
        });
      }
    }
  });

  it('are not waited for when they have been closed', async () => {
    const [one, adder] = [await read(30_000), await add()];
    await one.filter.close();
    await adder.add(['late']);
    expect(Number(await admin.zcard(`bloom:{${name}}:readers`))).toBe(1);
  });

  it('go on without a load when their connection for the feed is cut', async () => {
    const [one, adder] = [await read(), await add()];
    for (let i = 0; i < 10; i++) {
      for (const line of ((await admin.client('LIST')) as string).split('\n')) {
        const id = / cmd=xread /.test(line) && /\bid=(\d+)/.exec(line)?.[1];
        if (id) await admin.client('KILL', 'ID', Number(id));
      }
      await adder.add([`late-${i}`]);
      expect(says(one, `late-${i}`)).not.toBe('absent');
    }
    await eventually('all entries have come', () => says(one, 'late-9') === 'maybe' && isLeased(one));
    expect(one.events.filter(({ type }) => type === 'copy-leased').length).toBeGreaterThan(0);
    for (let i = 0; i < 10; i++) expect(says(one, `late-${i}`)).toBe('maybe');
  });

  it('deny nothing when the connection for messages is killed again and again', async () => {
    const [one, two, adder] = [await read(), await read(), await add()];
    for (let i = 0; i < 40; i++) {
      if (i % 4 === 0) await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
      await adder.add([`late-${i}`]);
      expect([says(one, `late-${i}`), says(two, `late-${i}`)]).not.toContain('absent');
    }
    await leased(one, two);
    for (let i = 0; i < 40; i++) expect(says(one, `late-${i}`)).toBe('maybe');
  });

  it('load again when entries were trimmed that they have not read', async () => {
    const [one, adder] = [await read(), await add()];
    for (let i = 0; i < 20; i++) {
      const added = adder.add([`late-${i}`]);
      await admin.xtrim(`bloom:{${name}}:feed`, 'MAXLEN', 0);
      await added;
      expect(says(one, `late-${i}`)).not.toBe('absent');
    }
    await leased(one);
    for (let i = 0; i < 20; i++) expect(says(one, `late-${i}`)).toBe('maybe');
  });

  it.each(['readers', 'feed'])('deny nothing that was added after the key %s was lost', async (key) => {
    const [one, two, adder] = [await read(), await read(), await add()];
    for (let i = 0; i < 5; i++) {
      await admin.del(`bloom:{${name}}:${key}`);
      await adder.add([`late-${i}`]);
      expect([says(one, `late-${i}`), says(two, `late-${i}`)]).not.toContain('absent');
      await one.filter.add([`mine-${i}`]);
      expect(says(two, `mine-${i}`)).not.toBe('absent');
    }
    await leased(one, two);
    expect(says(one, 'late-0')).toBe('maybe');
  });

  it('deny nothing when the filter is taken out of service and built again', async () => {
    const [one, two, adder] = [await read(), await read(), await add()];
    for (let i = 0; i < 3; i++) {
      await one.filter.distrust('a test');
      const ids = [`between-${i}`];
      await adder.add(ids);
      expect([says(one, ids[0]!), says(two, ids[0]!)]).not.toContain('absent');
      await build(adder, [...BUILT, `new-${i}`], SMALL);
      expect([says(one, `new-${i}`), says(two, `new-${i}`)]).not.toContain('absent');
      await leased(one, two);
    }
  });
});

describe('Through adds, swaps, loads and lost keys at random', () => {
  /** A rebuild whose source is read when its staging has been published. */
  async function rebuild(filter: StoredFilter, rows: readonly string[], plan: TestPlan): Promise<void> {
    const lease = await leaseOf(filter);
    try {
      const staging = await lease.stage(testPlan(plan));
      await commitIds(staging, rows.slice());
    } finally {
      await lease.release();
    }
  }

  it('no reader denies an id whose add has resolved', async () => {
    const [one, two, three, adder] = [await read(), await read(), await read(), await add()];
    const all = [one, two, three];
    /** Visible before the add is called, so that no rebuild has to wait. */
    const rows = [...BUILT];
    const known = [...BUILT];
    const wrong: string[] = [];
    let done = false;
    let absents = 0;
    const ask = (reader: Reader, id: string) => {
      if (says(reader, id) === 'absent') wrong.push(id);
    };
    const adding = [one.filter, two.filter, adder].map(async (filter, n) => {
      for (let i = 0; i < 400 || (absents === 0 && i < MOST_ADDS); i++) {
        const ids = [`late-${n}-${i}`, `same-${i}`];
        rows.push(...ids);
        await filter.add(ids);
        for (const reader of all) for (const id of ids) ask(reader, id);
        known.push(...ids);
      }
    });
    const disturbing = (async () => {
      for (let i = 0; !done; i++) {
        await rebuild(adder, rows, i % 2 === 0 ? LARGE : { capacity: 10_000 });
        await admin.del(`bloom:{${name}}:${['readers', 'feed'][i % 2]}`);
        await delay(Math.random() * 400);
      }
    })();
    const looking = (async () => {
      for (; !done; await delay(1)) {
        for (const reader of all) {
          const asked = known.slice(-50);
          const verdicts = await reader.filter.check(asked);
          wrong.push(...asked.filter((_, i) => verdicts[i] === 'absent'));
          for (const id of asked) ask(reader, id);
          if (says(reader, 'nobody') === 'absent') absents++;
        }
      }
    })();
    await Promise.all(adding);
    done = true;
    await Promise.all([disturbing, looking]);
    await leased(...all);
    for (const reader of all) for (const id of known) ask(reader, id);
    expect(wrong).toEqual([]);
    expect(absents).toBeGreaterThan(0);
  });
});
