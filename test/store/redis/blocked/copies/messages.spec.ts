import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import type { RedisStoreOptions } from '../../../../../src/store/redis/index.js';
import { build } from '../../../../support/built-filter.js';
import { eventually } from '../../../../support/eventually.js';
import { type LeasedProcess, openLeased } from '../../../../support/leased-reader.js';
import { RedisFixture } from '../../../../support/redis-fixture.js';
import { asUser } from '../../../../support/restricted-user.js';

let redis: RedisFixture;
let admin: Redis;
beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterEach(async () => {
  for (const reader of readers.splice(0)) await reader.close();
});
afterAll(() => redis.close());

const readers: LeasedProcess[] = [];

/** A process that reads until the test ends. */
async function openReader(name: string, options?: Partial<RedisStoreOptions>): Promise<LeasedProcess> {
  const reader = await openLeased(redis, name, options);
  readers.push(reader);
  return reader;
}

interface Adder {
  add(ids: string[]): Promise<boolean[]>;
}

const channelOf = (name: string) => `bloom:{${name}}:feed`;

/** How many listen to the feed. */
async function subscribers(channel: string): Promise<number> {
  const [, count] = (await admin.pubsub('NUMSUB', channel)) as [string, number];
  return Number(count);
}

/** Connections that wait for entries of a stream. */
async function waitingReads(): Promise<number> {
  return String(await admin.client('LIST'))
    .split('\n')
    .filter((line) => / cmd=xread /.test(line)).length;
}

/** Adds ids until the reader has them, each within its turn. */
async function addAll(filter: Adder, reader: LeasedProcess, ids: string[]) {
  for (const id of ids) {
    const before = reader.entries.at(-1)?.number ?? 0;
    const added = filter.add([id]);
    await eventually('the entry came', () => (reader.entries.at(-1)?.number ?? 0) > before);
    await reader.acknowledge();
    expect(await added).toEqual([true]);
  }
}

/** The first entries may come by the stream a little sooner. */
async function untilMessage(filter: Adder, reader: LeasedProcess): Promise<void> {
  let added = 0;
  await eventually('a message came', async () => {
    await addAll(filter, reader, [`id ${added++}`]);
    return reader.entries.some(({ isMessage }) => isMessage === true);
  });
}

describe('Entries of the feed', () => {
  it('come as messages, and no reader waits for entries of the stream', async () => {
    const name = redis.name();
    const [reader, adder] = [await openReader(name), await redis.open(name)];
    await build(adder.filter, ['built']);
    await reader.join();
    await eventually('the reader listens', async () => (await subscribers(channelOf(name))) === 1);
    await untilMessage(adder.filter, reader);
    let added = 0;
    await eventually('the stream is left', async () => {
      await addAll(adder.filter, reader, [`more ${added++}`]);
      return (await waitingReads()) === 0;
    });
    const before = reader.entries.length;
    await addAll(adder.filter, reader, ['one', 'two']);
    expect(reader.entries.slice(before).map(({ isMessage }) => isMessage)).toEqual([true, true]);
    await reader.close();
    await eventually('nobody listens', async () => (await subscribers(channelOf(name))) === 0);
  });

  it('are those of the stream, whatever bytes are in them', async () => {
    const name = redis.name();
    const [reader, adder] = [await openReader(name), await redis.open(name)];
    await build(adder.filter, ['built']);
    await reader.join();
    await eventually('the reader listens', async () => (await subscribers(channelOf(name))) === 1);
    await addAll(
      adder.filter,
      reader,
      Array.from({ length: 40 }, (_, i) => `id ${i}`),
    );
    const stored = await admin.xrangeBuffer(channelOf(name), '-', '+');
    const placesIn = (fields: Buffer[]) =>
      fields[fields.findIndex((field) => String(field) === 'places') + 1]!;
    const places = new Map(stored.map(([id, fields]) => [Number.parseInt(String(id), 10), placesIn(fields)]));
    const came = reader.entries.filter(({ isMessage }) => isMessage);
    expect(came.length).toBeGreaterThan(0);
    for (const entry of came) expect(Buffer.from(entry.places!.buffer)).toEqual(places.get(entry.number));
  });

  it('come as messages with a client that puts a prefix before all keys', async () => {
    const name = redis.name();
    const client = new Redis(redis.server.url, { keyPrefix: 'shop:' });
    const reader = await openReader(name, { redis: client });
    const adder = await redis.open(name, { redis: client });
    await build(adder.filter, ['built']);
    await reader.join();
    await eventually('it listens', async () => (await subscribers(`shop:${channelOf(name)}`)) === 1);
    await untilMessage(adder.filter, reader);
    await reader.close();
    client.disconnect();
  });

  it.each([
    { may: 'publish', rules: ['-subscribe'] },
    { may: 'subscribe', rules: ['-publish'] },
    { may: 'use no channel', rules: ['resetchannels'] },
  ])('come by the stream to users who may $may, who get one advice', async ({ rules }) => {
    const name = redis.name();
    const user = await asUser(redis, admin, ['~*', '&*', '+@all', ...rules]);
    const reader = await openReader(name, { redis: user });
    const adder = await redis.open(name, { redis: user });
    await build(adder.filter, ['built']);
    await reader.join();
    await addAll(
      adder.filter,
      reader,
      Array.from({ length: 34 }, (_, i) => `id ${i}`),
    );
    expect(reader.entries.map(({ number }) => number)).toEqual(Array.from({ length: 34 }, (_, i) => i + 1));
    const advice = reader.events.flatMap((event) => (event.type === 'advice' ? [event.text] : []));
    expect(advice).toHaveLength(1);
    expect(advice[0]).toContain(channelOf(name));
    expect(advice[0]).toContain('ACL SETUSER');
  });

  it('come by the stream where an older version adds, which publishes nothing', async () => {
    const name = redis.name();
    const [reader, adder] = [await openReader(name), await redis.open(name)];
    await build(adder.filter, ['built']);
    const { list, number } = await reader.join();
    await addAll(adder.filter, reader, ['a', 'b', 'c']);
    const last = number + 3;
    const fields = ['list', list, 'tag', reader.entries.at(-1)!.tag.toString(16), 'places', '12345678'];
    await admin.xadd(channelOf(name), `${last + 1}-0`, ...fields);
    await admin.hset(`bloom:{${name}}:meta`, 'leases.last', last + 1);
    await reader.leases.take({ list, applied: last });
    await eventually('the entry came', () => reader.entries.at(-1)!.number === last + 1);
    expect(reader.entries.at(-1)!.isMessage).toBe(false);
  });
});
