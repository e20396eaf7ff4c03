import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { StoredFilter } from '../../../../src/store/index.js';
import { build, idsOf } from '../../../support/built-filter.js';
import { expectFound, expectNeverAbsent } from '../../../support/never-absent.js';
import { RedisFixture } from '../../../support/redis-fixture.js';

/** Three segments. */
const PLAN = { capacity: 700_000 };
const BUILT = idsOf('built', 300);

let redis: RedisFixture;
let admin: Redis;
beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterAll(() => redis.close());

const damages: Record<string, (key: (end: string) => string) => Promise<unknown>> = {
  FLUSHALL: () => admin.flushall(),
  'one segment is deleted': (key) => admin.del(key('1')),
  'the last segment is deleted': (key) => admin.del(key('2')),
  'all segments are deleted': (key) => admin.del(key('0'), key('1'), key('2')),
  'one segment is truncated': async (key) =>
    admin.set(key('1'), await admin.getrangeBuffer(key('1'), 0, 5000)),
  'one segment is empty': (key) => admin.set(key('1'), ''),
  'one segment is a list': async (key) => {
    await admin.del(key('1'));
    await admin.rpush(key('1'), 'x');
  },
  'one segment is a hash': async (key) => {
    await admin.del(key('1'));
    await admin.hset(key('1'), 'x', 'y');
  },
  'one segment has other bytes': (key) => admin.set(key('1'), randomBytes(2 ** 20)),
  'one segment is all zero': (key) => admin.set(key('1'), Buffer.alloc(2 ** 20)),
  'one segment is all ones': (key) => admin.set(key('1'), Buffer.alloc(2 ** 20, 255)),
  'meta is deleted': (key) => admin.del(key('meta')),
  'meta and one segment are deleted': (key) => admin.del(key('meta'), key('0')),
  'meta is a text': (key) => admin.set(key('meta'), 'x'),
  'meta is a list': async (key) => {
    await admin.del(key('meta'));
    await admin.rpush(key('meta'), 'x');
  },
};

describe.each(Object.keys(damages))('When %s', (damage) => {
  /** Processes that have looked at the filter, added to it, or never heard of it. */
  async function damaged() {
    const name = redis.name();
    const [reader, adder] = [(await redis.open(name)).filter, (await redis.open(name)).filter];
    await build(reader, BUILT, PLAN);
    await expectFound([reader, adder], BUILT);
    await adder.add(['added']);
    await damages[damage]!((end) => `bloom:{${name}}:${end}`);
    return { reader, adder, newcomer: (await redis.open(name)).filter };
  }

  it('no process answers "absent" for an id of the filter', async () => {
    const { reader, adder, newcomer } = await damaged();
    for (let round = 0; round < 3; round++) {
      await expectNeverAbsent([newcomer, reader, adder], [...BUILT, 'added']);
    }
  });

  it.each(['reader', 'adder', 'newcomer'] as const)(
    'an add of the %s makes no filter of it, and is never "absent"',
    async (who) => {
      const filters = await damaged();
      const all: StoredFilter[] = [filters.reader, filters.adder, filters.newcomer];
      const late = idsOf('late', 50);
      await filters[who].add(late);
      await filters[who].add(['later']);
      await expectNeverAbsent(all, [...BUILT, 'added', ...late, 'later']);
      await Promise.all(all.map((filter, i) => filter.add([`more-${i}`])));
      await expectNeverAbsent(all, [...BUILT, 'added', ...late, 'later', 'more-0', 'more-1', 'more-2']);
    },
  );

  it('a rebuild brings the filter back for all of them', async () => {
    const { reader, adder, newcomer } = await damaged();
    await adder.add(['late']);
    await build(newcomer, [...BUILT, 'added', 'late'], { capacity: 2000 });
    await expectFound([reader, adder, newcomer], [...BUILT, 'added', 'late']);
    expect(await reader.check(['x'])).toEqual(['absent']);
    expect(await adder.add(['again'])).toEqual([true]);
    await expectFound([reader, adder, newcomer], ['again']);
  });
});

describe('Who finds a filter lost', () => {
  it.each(['FLUSHALL', 'meta is deleted', 'one segment is deleted'])('says so once: %s', async (damage) => {
    const name = redis.name();
    const { filter, events } = await redis.open(name);
    await build(filter, BUILT, PLAN);
    await filter.check(['a']);
    await damages[damage]!((end) => `bloom:{${name}}:${end}`);
    // A filter that answers from its segments does not know yet that meta is gone.
    if (damage === 'meta is deleted') await filter.add(['a']);
    for (let round = 0; round < 3; round++) await filter.check(BUILT);
    expect(events.map((event) => 'state' in event && event.state)).toEqual(['ready', 'lost']);
    expect(await filter.describe()).toMatchObject({ state: 'lost' });
  });

  it('leaves a filter that was never built unbuilt, however many add to it at once', async () => {
    const name = redis.name();
    const instances = await Promise.all([1, 2, 3].map(() => redis.open(name)));
    await Promise.all(instances.map(({ filter }, i) => filter.add([`id-${i}`])));
    for (const { filter, events } of instances) {
      expect(await filter.describe()).toMatchObject({ state: 'unbuilt' });
      expect(events).toEqual([]);
    }
  });
});

describe('A process that did not find it out itself', () => {
  it('says when another process took the filter offline, and when it is back', async () => {
    const name = redis.name();
    const [finder, other] = [await redis.open(name), await redis.open(name)];
    await build(finder.filter, BUILT, PLAN);
    await expectFound([other.filter], BUILT);
    await admin.del(`bloom:{${name}}:1`);
    await finder.filter.check(BUILT);
    expect(await other.filter.check(BUILT)).toContain('unknown');
    await build(finder.filter, BUILT);
    await expectFound([other.filter], BUILT);
    expect(other.events.map((event) => 'state' in event && event.state)).toEqual(['lost', 'ready']);
  });
});
