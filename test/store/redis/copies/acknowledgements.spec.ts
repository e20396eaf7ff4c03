import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { luaSources } from '../../../support/lua-sources.js';
import { eventually } from '../../../support/eventually.js';
import { build } from '../../../support/built-filter.js';
import { isPending, type LeasedProcess, openLeased } from '../../../support/leased-reader.js';
import { RedisFixture } from '../../../support/redis-fixture.js';

let redis: RedisFixture;
let admin: Redis;
beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterAll(() => redis.close());

/** Two readers on the list, of which the second acknowledges first, so that it is not the last one of an entry. */
async function system(options: Parameters<typeof openLeased>[2] = {}) {
  const name = redis.name();
  const adder = await redis.open(name);
  await build(adder.filter, ['built']);
  const last = await openLeased(redis, name);
  const other = await openLeased(redis, name, options);
  await last.join();
  await other.join();
  const key = (part: string) => `bloom:{${name}}:${part}`;
  let adds = 0;
  /** Adds an id, and resolves when both readers have its entry. */
  const add = async () => {
    const number = ++adds;
    const added = adder.filter.add([`id ${number}`]);
    const has = (reader: LeasedProcess) => reader.entries.at(-1)?.number === number;
    await eventually('the entry came', () => has(last) && has(other));
    return { added, number };
  };
  const listening = redis.client();
  await listening.subscribe(key('acks'));
  let heard = 0;
  listening.on('message', (_, message: string) => (heard = Number(message.split(' ')[1])));
  /** What adders that wait were told last. */
  const told = async () => {
    // Its reply comes after all messages that were published before.
    await listening.subscribe(key('acks'));
    return heard;
  };
  return { last, other, key, add, told };
}

describe('Acknowledgements of several readers', () => {
  it('are told to adders with the last one, in whichever order they come', async () => {
    const { last, other, add, told } = await system();
    for (const [first, second] of [
      [other, last],
      [other, last],
      [last, other],
      [last, other],
      [other, last],
    ] as const) {
      const { added, number } = await add();
      await first.acknowledge();
      expect(await isPending(added, admin)).toBe(true);
      expect(await told()).toBe(number - 1);
      await second.acknowledge();
      expect(await told()).toBe(number);
      expect(await added).toEqual([true]);
    }
  });

  it('count for entries before that the slowest reader has not acknowledged', async () => {
    const { last, other, add, told } = await system();
    const first = await add();
    const second = await add();
    await other.acknowledge();
    const third = await add();
    await other.acknowledge();
    expect(await told()).toBe(0);
    await last.leases.acknowledge({ list: last.entries[0]!.list, applied: 1 });
    expect(await first.added).toEqual([true]);
    expect(await isPending(second.added, admin)).toBe(true);
    await last.acknowledge();
    expect(await told()).toBe(3);
    expect(await Promise.all([second.added, third.added])).toEqual([[true], [true]]);
  });

  it('need no script of a reader that is not the last', async () => {
    const lua = { ...luaSources, copyAck: { source: "return 'OK'" } };
    const { last, other, add, told } = await system({ luaSources: lua });
    const first = await add();
    await other.acknowledge();
    await last.acknowledge();
    expect(await isPending(first.added, admin)).toBe(true);
    const second = await add();
    await other.acknowledge();
    await last.acknowledge();
    expect(await told()).toBe(2);
    expect(await Promise.all([first.added, second.added])).toEqual([[true], [true]]);
  });

  it('take one script of the reader that is the last one each time, and plain commands of the others', async () => {
    const { last, other, add } = await system();
    /** Only readers that may not be the last one count those behind. */
    const counted = async () => {
      const { added } = await add();
      await admin.config('RESETSTAT');
      await other.acknowledge();
      await last.acknowledge();
      await added;
      return /cmdstat_zcount:calls=(\d+)/.exec(await admin.info('commandstats'))?.[1];
    };
    // Nobody knows yet who is the last one.
    expect(await counted()).toBeUndefined();
    expect(await counted()).toBe('1');
    expect(await counted()).toBe('1');
  });

  it.each(['gone', 'another one'])('note nothing on a list that is %s', async (now) => {
    const { last, other, key, add } = await system();
    const { added } = await add();
    await other.acknowledge();
    const second = await add();
    second.added.catch(() => {});
    await admin.del(key('readers'));
    if (now === 'another one') await last.join();
    const before = await admin.zrange(key('readers'), '0', '-1', 'WITHSCORES');
    await other.acknowledge();
    expect(await admin.zrange(key('readers'), '0', '-1', 'WITHSCORES')).toEqual(before);
    expect(await isPending(added, admin)).toBe(true);
    added.catch(() => {});
  });
});
