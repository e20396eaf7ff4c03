import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import type { Socket } from 'node:net';
import { eventually } from '../../../../support/eventually.js';
import { build } from '../../../../support/built-filter.js';
import { isPending, type LeasedProcess, openLeased } from '../../../../support/leased-reader.js';
import { commandsFrom, RedisFixture } from '../../../../support/redis-fixture.js';
import { asUser } from '../../../../support/restricted-user.js';

let redis: RedisFixture;
let admin: Redis;
beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterAll(() => redis.close());

/**
 * Two readers on the list, of which the second acknowledges first, so that it is not the last one of an
 * entry.
 */
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
  return { adder, last, other, key, add, told };
}

/** Adds so many ids that both acknowledge. */
async function both(
  last: LeasedProcess,
  other: LeasedProcess,
  add: () => Promise<{ added: Promise<boolean[]> }>,
  count: number,
): Promise<void> {
  for (let i = 0; i < count; i++) {
    const { added } = await add();
    await other.acknowledge();
    await last.acknowledge();
    expect(await added).toEqual([true]);
  }
}

interface Silent {
  readonly side: { readonly present: { readonly client: Redis } };
  readonly write: unknown;
}

/** What the acknowledgements of a reader are sent with. */
function silentOf({ leases }: LeasedProcess): Silent {
  return (leases as unknown as { side: { silent: Silent } }).side.silent;
}

function socketOf(reader: LeasedProcess): Socket {
  return silentOf(reader).side.present.client.stream as Socket;
}

/** Waits until the servers of all readers do not reply. */
function untilSilent(...readers: LeasedProcess[]): Promise<void> {
  return eventually('the server is silent', () =>
    readers.every((reader) => silentOf(reader).write !== undefined),
  );
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

  it('of several entries at once tell no more than what the slower reader has', async () => {
    const { last, other, add, told } = await system();
    const adds = [await add(), await add(), await add()];
    const { list } = last.entries[0]!;
    await other.leases.acknowledge({ list, applied: 2 });
    await last.acknowledge();
    await adds[1]!.added;
    expect(await isPending(adds[2]!.added, admin)).toBe(true);
    expect(await told()).toBe(2);
    await other.acknowledge();
    expect(await adds[2]!.added).toEqual([true]);
  });

  it('are sent without replies as soon as the server is silent', async () => {
    const { adder, last, other, add, told } = await system();
    await both(last, other, add, 1);
    await untilSilent(last, other);
    const commands = await commandsFrom(admin, adder.filter);
    const sockets = [socketOf(last), socketOf(other)];
    const before = sockets.map(({ bytesRead, bytesWritten }) => ({ bytesRead, bytesWritten }));
    await both(last, other, add, 10);
    expect(await told()).toBe(11);
    expect([socketOf(last), socketOf(other)]).toEqual(sockets);
    for (const [i, { bytesRead, bytesWritten }] of before.entries()) {
      expect(sockets[i]!.bytesWritten).toBeGreaterThan(bytesWritten);
      expect(sockets[i]!.bytesRead).toBe(bytesRead);
    }
    // Each add has its own, and two acknowledgements. Each question is a script with the other command.
    const { evalsha, zrem: questions = 0 } = await commands();
    expect(evalsha! - questions).toBe(30);
  });

  it('have replies where the user may not do without, with one advice', async () => {
    const user = await asUser(redis, admin, ['~*', '&*', '+@all', '-client|reply']);
    const { last, other, add } = await system({ redis: user });
    await both(last, other, add, 10);
    const texts = other.events.flatMap((event) => (event.type === 'advice' ? [event.text] : []));
    expect(texts).toEqual([expect.stringContaining('+client|reply')]);
    expect(other.events.filter(({ type }) => type !== 'advice')).toEqual([]);
  });

  it('that were lost are made up for by a renewal, and have replies from then on', async () => {
    const { last, other, add } = await system();
    await both(last, other, add, 1);
    await untilSilent(last, other);
    // The server does not know the script any more, and says so to nobody.
    await admin.script('FLUSH');
    const { added, number } = await add();
    for (const reader of [last, other]) {
      const held = { list: reader.entries[0]!.list, applied: number };
      await reader.acknowledge();
      // It may be on its way.
      await reader.leases.take(held);
      expect(await isPending(added, admin)).toBe(true);
      expect(reader.events).toEqual([]);
      await eventually('it is missed', async () => {
        await reader.leases.take(held);
        return reader.events.length > 0;
      });
      expect(reader.events).toEqual([{ type: 'connection-error', error: expect.any(Error) }]);
    }
    expect(await added).toEqual([true]);
    await both(last, other, add, 3);
    expect([last, other].map((reader) => silentOf(reader).write !== undefined)).toEqual([false, false]);
  });

  it('are sent once more when their connection has ended', async () => {
    const { last, other, add } = await system();
    await both(last, other, add, 1);
    await untilSilent(last, other);
    await admin.script('FLUSH');
    const { added } = await add();
    await other.acknowledge();
    await last.acknowledge();
    expect(await isPending(added, admin)).toBe(true);
    for (const reader of [last, other]) {
      const { localAddress, localPort } = socketOf(reader);
      await admin.client('KILL', 'ADDR', `${localAddress}:${localPort}`);
    }
    // Half of the lease that would end the wait.
    await eventually('the add resolves', async () => !(await isPending(added, admin)), 30_000);
    expect(await added).toEqual([true]);
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
