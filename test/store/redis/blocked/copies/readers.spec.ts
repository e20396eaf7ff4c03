import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { LookupCounts } from '../../../../../src/service/filter-counts.js';
import { BlockedLayout } from '../../../../../src/filter/index.js';
import { eventually } from '../../../../support/eventually.js';
import { build } from '../../../../support/built-filter.js';
import { isPending, openLeased } from '../../../../support/leased-reader.js';
import { RedisFixture } from '../../../../support/redis-fixture.js';

let redis: RedisFixture;
let admin: Redis;
beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterAll(() => redis.close());

async function system() {
  const name = redis.name();
  const adder = await redis.open(name);
  await build(adder.filter, ['built']);
  const reader = await openLeased(redis, name);
  const key = (part: string) => `bloom:{${name}}:${part}`;
  return { name, adder, reader, key };
}

describe('A filter that is read with leases', () => {
  it('says so in its metadata from the first lease on', async () => {
    const { reader, key } = await system();
    const tag = await admin.hget(key('meta'), 'tag');
    const { tag: granted } = await reader.join();
    expect(await admin.hmget(key('meta'), 'format', 'tag')).toEqual(['4', `L${tag}`]);
    expect(granted).toBe(Number.parseInt(tag!, 16));
  });

  it('acknowledges an add when its reader has', async () => {
    const { adder, reader } = await system();
    await reader.join();
    const add = adder.filter.add(['new']);
    await eventually('the entry came', () => reader.entries.length > 0);
    expect(await isPending(add, admin)).toBe(true);
    await reader.acknowledge();
    expect(await add).toEqual([true]);
    expect(reader.entries).toHaveLength(1);
    expect(reader.entries[0]!.places).toHaveLength(2);
  });

  it('tells the reader the places of the ids that were new', async () => {
    const { adder, reader } = await system();
    await reader.join();
    const { generation } = await reader.filter.describe();
    const layout = new BlockedLayout(generation!);
    const add = adder.filter.add(['built', 'one', 'two']);
    await eventually('the entry came', () => reader.entries.length > 0);
    await reader.acknowledge();
    expect(await add).toEqual([false, true, true]);
    const places = ['one', 'two'].flatMap((id) => {
      layout.locate(id);
      return [layout.block, layout.seed >>> 0];
    });
    expect([...reader.entries[0]!.places!]).toEqual(places);
  });

  it('has an add of an id that is there wait for entries that are not acknowledged', async () => {
    const { adder, reader } = await system();
    await reader.join();
    const first = adder.filter.add(['new']);
    await eventually('the entry came', () => reader.entries.length > 0);
    const second = adder.filter.add(['new']);
    expect(await isPending(second, admin)).toBe(true);
    await reader.acknowledge();
    expect(await Promise.all([first, second])).toEqual([[true], [false]]);
  });

  it('does not have an add wait whose readers have acknowledged everything, or have left', async () => {
    const { adder, reader } = await system();
    await reader.join();
    expect(await adder.filter.add(['built'])).toEqual([false]);
    const add = adder.filter.add(['new']);
    await eventually('the entry came', () => reader.entries.length > 0);
    await reader.leases.leave();
    expect(await add).toEqual([true]);
    expect(await adder.filter.add(['newer'])).toEqual([true]);
  });

  it('has an add wait for the slowest of several readers', async () => {
    const { name, adder, reader } = await system();
    const other = await openLeased(redis, name);
    await reader.join();
    await other.join();
    const add = adder.filter.add(['new']);
    await eventually('the entry came', () => reader.entries.length > 0 && other.entries.length > 0);
    await reader.acknowledge();
    expect(await isPending(add, admin)).toBe(true);
    await other.acknowledge();
    expect(await add).toEqual([true]);
  });

  it('waits for a reader that died no longer than its lease, and then never again', async () => {
    const name = redis.name();
    const recorder = new LookupCounts();
    const adder = await redis.open(name, {}, { recorder });
    await build(adder.filter, ['built']);
    // A lease that ended before the add came delays nothing.
    for (let round = 1; recorder.snapshot().copyWaits.adds < 1; round++) {
      const reader = await openLeased(redis, name, { leaseMs: 300 });
      await reader.join();
      expect(await adder.filter.add([`add ${round}`])).toEqual([true]);
    }
    expect(await adder.filter.add(['newer'])).toEqual([true]);
    expect(recorder.snapshot().copyWaits.adds).toBe(1);
  });

  it('has a swap acknowledged when its readers have, and tells them of it', async () => {
    const { adder, reader, key } = await system();
    await reader.join();
    const swap = build(adder.filter, ['other']);
    await reader.copyStaging();
    await eventually('the entry came', () => reader.entries.length > 0);
    expect(await isPending(swap, admin)).toBe(true);
    expect(reader.entries[0]).toMatchObject({ number: 1, places: undefined });
    expect(await admin.hget(key('meta'), 'tag')).toBe(
      `L${reader.entries[0]!.tag.toString(16).padStart(8, '0')}`,
    );
    await reader.acknowledge();
    await swap;
    expect(await adder.filter.check(['other', 'built'])).toEqual(['maybe', 'absent']);
  });

  it('renews a lease, and puts a reader on the list again that was taken off', async () => {
    const { adder, reader, key } = await system();
    const { list, number, tag } = await reader.join();
    expect(await reader.leases.take({ list, applied: number })).toEqual({
      outcome: 'granted',
      list,
      number,
      tag,
    });
    const members = await admin.zrange(key('readers'), '0', '-1');
    await admin.zrem(key('readers'), ...members.filter((member) => !member.startsWith('#')));
    await adder.filter.add(['new']);
    await eventually('the entry came', () => reader.entries.length > 0);
    expect(await reader.leases.take({ list, applied: 0 })).toMatchObject({ outcome: 'granted', number: 1 });
    const second = adder.filter.add(['new']);
    expect(await isPending(second, admin)).toBe(true);
    await reader.acknowledge();
    await second;
  });

  it('gives no lease to a reader that lacks an entry which is gone', async () => {
    const { adder, reader, key } = await system();
    const { list } = await reader.join();
    for (const id of ['one', 'two']) {
      const add = adder.filter.add([id]);
      await eventually('the entry came', () => reader.entries.at(-1)?.number === (id === 'one' ? 1 : 2));
      await reader.acknowledge();
      await add;
    }
    await admin.xdel(key('feed'), '1-0');
    expect(await reader.leases.take({ list, applied: 0 })).toEqual({ outcome: 'not-live' });
    expect(await reader.leases.take(undefined)).toMatchObject({ outcome: 'granted', number: 2 });
  });

  it('gives no lease while nothing is live', async () => {
    const { adder, reader } = await system();
    await adder.filter.distrust('a test');
    expect(await reader.leases.take(undefined)).toEqual({ outcome: 'not-live' });
  });
});
