import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { build } from '../../../../support/built-filter.js';
import { eventually } from '../../../../support/eventually.js';
import { isPending, openLeased } from '../../../../support/leased-reader.js';
import { commandCounts, RedisFixture } from '../../../../support/redis-fixture.js';

let redis: RedisFixture;
let admin: Redis;
beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterAll(() => redis.close());

async function readers(count: number) {
  const name = redis.name();
  const maker = await redis.open(name);
  await build(maker.filter, ['built']);
  const processes = [];
  for (let i = 0; i < count; i++) {
    const one = await openLeased(redis, name);
    await one.join();
    processes.push(one);
  }
  return { name, processes };
}

describe('A process that adds and reads with a lease', () => {
  it('does not wait for itself', async () => {
    const { processes } = await readers(1);
    const { filter, entries } = processes[0]!;
    expect(await filter.add(['one'])).toEqual([true]);
    expect(await Promise.all([filter.add(['two']), filter.add(['three', 'four'])])).toEqual([
      [true],
      [true, true],
    ]);
    await eventually('its entries come all the same', () => entries.at(-1)?.number === 3);
  });

  it('asks nothing of itself either', async () => {
    const { processes } = await readers(1);
    const { filter } = processes[0]!;
    await filter.add(['one']);
    await admin.config('RESETSTAT');
    expect(await filter.add(['two'])).toEqual([true]);
    // Each question is a script with this command.
    expect((await commandCounts(admin))['zrem']).toBeUndefined();
  });

  it('waits for the others', async () => {
    const { processes } = await readers(2);
    const [own, other] = processes;
    const add = own!.filter.add(['one']);
    await eventually('the entry came', () => other!.entries.length > 0);
    expect(await isPending(add, admin)).toBe(true);
    await other!.acknowledge();
    expect(await add).toEqual([true]);
  });

  it('waits for itself while it lacks an entry of another process', async () => {
    const { processes } = await readers(2);
    const [own, other] = processes;
    const first = other!.filter.add(['of another']);
    await eventually('the entry came', () => own!.entries.length > 0);
    const second = own!.filter.add(['its own']);
    await eventually('both entries came', () => other!.entries.length === 2);
    await other!.acknowledge();
    expect(await isPending(second, admin)).toBe(true);
    await eventually('both entries came', () => own!.entries.length === 2);
    await own!.acknowledge();
    await Promise.all([first, second]);
  });
});
