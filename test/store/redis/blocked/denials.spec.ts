import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import type { BloomEvent } from '../../../../src/common/index.js';
import type { StoredFilter } from '../../../../src/store/index.js';
import { build, idsOf } from '../../../support/built-filter.js';
import { age, ask, DENIALS, deny, sharing, untilShared } from '../../../support/denials.js';
import { eventually } from '../../../support/eventually.js';
import { expectFound } from '../../../support/never-absent.js';
import { commandsFrom, type Instance, RedisFixture } from '../../../support/redis-fixture.js';
import { asUser } from '../../../support/restricted-user.js';
import { denialsOf } from '../../../support/abilities.js';

const DRAIN_MS = 10_000;
/** Nothing is noted for so long in the bucket of an id that was added. */
const MARK_MS = 2 * DRAIN_MS + 1_000;
/** Longer than a machine that is busy stands still, and shorter than a drain. */
const MARGIN_MS = 5_000;

let redis: RedisFixture;
let admin: Redis;
beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterAll(() => redis.close());

/** Two processes that share denials, and a third that does not and only adds. */
async function processes(): Promise<{
  name: string;
  one: StoredFilter;
  two: StoredFilter;
  adder: Instance;
}> {
  const name = redis.name();
  const one = sharing(await redis.open(name), name);
  const two = sharing(await redis.open(name), name);
  const adder = await redis.open(name);
  await build(adder.filter, idsOf('built', 10));
  await untilShared(one, admin, name);
  await age(admin, name, MARK_MS + 1);
  // Each has looked at the metadata since.
  await Promise.all([one.describe(), two.describe(), adder.filter.describe()]);
  return { name, one, two, adder };
}

/** The server answers nobody meanwhile. `filter` shares denials, and its lookups have 200 ms. */
async function whileStopped(
  work: (asking: { filter: StoredFilter; events: readonly BloomEvent[] }) => Promise<void>,
): Promise<void> {
  const { name } = await processes();
  const instance = await redis.open(name, { timeoutMs: 200 });
  const filter = sharing(instance, name);
  await expectFound([filter], ['built-1']);
  // A lookup may have missed its 200 ms before.
  instance.events.length = 0;
  await redis.server.kill('SIGSTOP');
  try {
    await work({ filter, events: instance.events });
  } finally {
    await redis.server.kill('SIGCONT');
  }
}

async function isDenied(filter: StoredFilter, id: string, scope?: string): Promise<boolean> {
  return (await ask(filter, id, scope)).isDenied;
}

describe('A denial', () => {
  it('is known to every process until its life is over, for what was asked and nothing else', async () => {
    const { name, one, two } = await processes();
    expect(await isDenied(one, 'x')).toBe(false);
    await deny(one, 'x');
    expect([await isDenied(one, 'x'), await isDenied(two, 'x')]).toEqual([true, true]);
    expect([await isDenied(two, 'y'), await isDenied(two, 'x', 'Orders.find')]).toEqual([false, false]);
    await age(admin, name, 0.7 * DENIALS.lifeMs);
    expect(await isDenied(two, 'x')).toBe(true);
    await age(admin, name, 0.6 * DENIALS.lifeMs);
    expect(await isDenied(two, 'x')).toBe(false);
  });

  it('is one for all spellings of an id', async () => {
    const { one, two } = await processes();
    await deny(one, 'größe');
    const bytes = Buffer.from('größe');
    expect((await ask(two, bytes)).isDenied).toBe(true);
  });

  it('ends before an add of the id resolves, whichever process adds', async () => {
    const { name, one, two, adder } = await processes();
    for (const filter of [one, two, adder.filter]) {
      await deny(one, 'late');
      await filter.add(['late']);
      expect([await isDenied(one, 'late'), await isDenied(two, 'late')]).toEqual([false, false]);
      await age(admin, name, MARK_MS + 1);
    }
  });

  it('ends with a bulk add, in every one of its calls', async () => {
    const { one, two, adder } = await processes();
    const ids = idsOf('bulk', 600);
    for (const id of ['bulk-1', 'bulk-599']) await deny(one, id);
    await adder.filter.add(ids);
    expect([await isDenied(two, 'bulk-1'), await isDenied(two, 'bulk-599')]).toEqual([false, false]);
  });

  it('ends with an add by a process that has not heard of the table', async () => {
    const name = redis.name();
    const adder = await redis.open(name);
    await build(adder.filter, ['built']);
    await adder.filter.describe();
    const one = sharing(await redis.open(name), name);
    await untilShared(one, admin, name);
    await age(admin, name, MARK_MS + 1);
    await deny(one, 'x');
    expect(await isDenied(one, 'x')).toBe(true);
    await adder.filter.add(['x']);
    expect(await isDenied(one, 'x')).toBe(false);
    await deny(one, 'x');
    expect(await isDenied(one, 'x')).toBe(false);
  });

  it('makes room for another one when its bucket is full', async () => {
    const name = redis.name();
    const filter = sharing(await redis.open(name), name, { denials: { maxIds: 4 } });
    await build(filter, ['built']);
    await untilShared(filter, admin, name);
    await age(admin, name, MARK_MS + 1);
    const ids = ['a', 'b', 'c', 'd', 'e'];
    for (const id of ids) await deny(filter, id);
    const denied = await Promise.all(ids.map((id) => isDenied(filter, id)));
    expect(denied.filter(Boolean)).toHaveLength(4);
    expect(denied.at(-1)).toBe(true);
  });

  it('costs a lookup one call of a script, shared with those of the same tick', async () => {
    const { one } = await processes();
    const commands = await commandsFrom(admin, one);
    await Promise.all(idsOf('asked', 50).map((id) => ask(one, id)));
    expect(await commands()).toMatchObject({ evalsha: 1, getrange: 50 });
  });
});

describe('While a row may be on its way', () => {
  it('nothing is noted of an id, until twice the drain and a second have passed', async () => {
    const { name, one, two, adder } = await processes();
    await adder.filter.add(['new']);
    await deny(one, 'new');
    expect(await isDenied(two, 'new')).toBe(false);
    await age(admin, name, MARK_MS - MARGIN_MS);
    await deny(one, 'new');
    expect(await isDenied(two, 'new')).toBe(false);
    await age(admin, name, MARGIN_MS + 1);
    await deny(one, 'new');
    expect(await isDenied(two, 'new')).toBe(true);
  });

  it('nothing is noted by who asked the database before the add, however late', async () => {
    const { one, two, adder } = await processes();
    const asked = await ask(one, 'new');
    await adder.filter.add(['new']);
    asked.note();
    await ask(one, 'new');
    expect(await isDenied(two, 'new')).toBe(false);
  });

  it('the longest drain of the processes that added counts', async () => {
    const { name, one, two } = await processes();
    const hasty = sharing(await redis.open(name), name, { drainMs: 0 });
    await two.add(['new']);
    await hasty.add(['new']);
    await age(admin, name, MARK_MS - MARGIN_MS);
    await deny(one, 'new');
    expect(await isDenied(two, 'new')).toBe(false);
  });

  it('that was added before the table was made, nothing is noted of any id', async () => {
    const name = redis.name();
    const adder = await redis.open(name);
    await build(adder.filter, ['built']);
    await adder.filter.add(['early']);
    const one = sharing(await redis.open(name), name);
    await untilShared(one, admin, name);
    await deny(one, 'early');
    expect(await isDenied(one, 'early')).toBe(false);
  });
});

describe('A rebuild', () => {
  it('ends all denials, and a note of the time before is not taken', async () => {
    const { name, one, two, adder } = await processes();
    await deny(one, 'x');
    const asked = await ask(one, 'y');
    await build(adder.filter, ['x', 'y']);
    asked.note();
    expect(await isDenied(two, 'x')).toBe(false);
    await untilShared(two, admin, name);
    await one.describe();
    expect([await isDenied(one, 'x'), await isDenied(one, 'y')]).toEqual([false, false]);
    await deny(one, 'x');
    expect(await isDenied(one, 'x')).toBe(false);
  });

  it('by a process that shares nothing leaves nothing behind', async () => {
    const { name, adder } = await processes();
    await build(adder.filter, ['x']);
    expect(await admin.exists(`bloom:{${name}}:denials`)).toBe(0);
    expect(await admin.hexists(`bloom:{${name}}:meta`, 'denials')).toBe(0);
  });
});

describe('A table that is lost', () => {
  it('denies nothing, and the next one waits as the first did', async () => {
    const { name, one, two, adder } = await processes();
    await deny(one, 'x');
    await admin.del(`bloom:{${name}}:denials`);
    expect(await isDenied(two, 'x')).toBe(false);
    await adder.filter.add(['x']);
    await untilShared(one, admin, name);
    await one.describe();
    await deny(one, 'x');
    expect(await isDenied(one, 'x')).toBe(false);
  });

  it.each([
    ['cut off', (key: string) => cutOff(key)],
    ['of another type', (key: string) => admin.multi().del(key).rpush(key, 'x').exec()],
    ['overwritten', (key: string) => admin.set(key, Buffer.alloc(300_000))],
  ])('in part or whole is removed by the first add that cannot mark it: %s', async (_, damage) => {
    const { name, one, two, adder } = await processes();
    const key = `bloom:{${name}}:denials`;
    const ids = idsOf('denied', 20);
    for (const id of ids) await deny(one, id);
    await damage(key);
    await adder.filter.add(ids);
    expect(await admin.exists(key)).toBe(0);
    expect(await Promise.all(ids.map((id) => isDenied(two, id)))).toEqual(ids.map(() => false));
  });

  it('takes no add with it: a name in the metadata that makes no sense takes the filter offline', async () => {
    const { name, adder } = await processes();
    await admin.hset(`bloom:{${name}}:meta`, 'denials', 'nonsense');
    await adder.filter.add(['x']);
    expect(await adder.filter.check(['x'])).toEqual(['unknown']);
    expect(await admin.exists(`bloom:{${name}}:denials`)).toBe(0);
  });

  async function cutOff(key: string): Promise<void> {
    const table = (await admin.getBuffer(key))!;
    await admin.set(key, table.subarray(0, table.length / 4));
  }
});

describe('A server', () => {
  it('that restarted has none, also where its data are believed', async () => {
    const own = await RedisFixture.start();
    try {
      const trusting = { trustAfterFailover: true };
      const adder = await own.open('products', trusting);
      const one = sharing(await own.open('products', trusting), 'products');
      await build(adder.filter, ['built']);
      await untilShared(one, own.client(), 'products');
      await age(own.client(), 'products', MARK_MS + 1);
      await deny(one, 'x');
      expect(await isDenied(one, 'x')).toBe(true);
      await own.client().save();
      await adder.filter.add(['x']);
      await own.server.kill();
      await own.server.restart();
      await eventually(
        'the process is connected again',
        async () => (await one.check(['built']))[0] === 'maybe',
      );
      expect(await isDenied(one, 'x')).toBe(false);
      await deny(one, 'x');
      expect(await isDenied(one, 'x')).toBe(false);
    } finally {
      await own.close();
    }
  });

  it('that may not tell who it is gets no table', async () => {
    const user = await asUser(redis, admin, ['~*', '+@all', '-info']);
    const name = redis.name();
    const one = sharing(await redis.open(name, { redis: user }), name);
    await build(one, ['built']);
    for (let i = 0; i < 3; i++) expect(await isDenied(one, 'x')).toBe(false);
    expect(await admin.exists(`bloom:{${name}}:denials`)).toBe(0);
  });

  it('that is too slow for a question after its lookup is not taken for one that does not answer', async () => {
    await whileStopped(async ({ filter, events }) => {
      const since = performance.now() - 190;
      for (let i = 0; i < 6; i++) await denialsOf(filter).ask({ id: `x-${i}`, scope: 's', since });
      expect(events.map(({ type }) => type)).not.toContain('circuit-opened');
      await eventually('the circuit is open', async () => {
        await ask(filter, 'y');
        return events.some(({ type }) => type === 'circuit-opened');
      });
    });
  });

  it('that does not answer denies nothing, in what is left of the time for a lookup', async () => {
    await whileStopped(async ({ filter, events }) => {
      const asked = denialsOf(filter).ask({ id: 'x', scope: 's', since: performance.now() - 190 });
      expect((await asked).isDenied).toBe(false);
      const errors = events.filter(({ type }) => type === 'store-error');
      expect(errors).toEqual([expect.objectContaining({ operation: 'ask the negative cache' })]);
      expect(String((errors[0] as { error: unknown }).error)).toMatch(/within \d\d? ms/);
    });
  });
});
