import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { BloomUnavailableError } from 'nestjs-bloom/store';
import { build, idsOf } from '../../../../../test/support/built-filter.js';
import { eventually } from '../../../../../test/support/eventually.js';
import { type Instance, RedisFixture } from '../../../../../test/support/redis-fixture.js';
import { scaling } from '../../../src/scaling/index.js';

let redis: RedisFixture;
let admin: Redis;
beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterAll(() => redis.close());

const layout = scaling();
const target = { capacity: 500, errorRate: 0.01 };

/** A filter of several layers, and two processes that know it. */
async function grown(): Promise<{ name: string; one: Instance; other: Instance; segments: string[] }> {
  const name = redis.name();
  const [one, other] = [await redis.open(name, {}, { layout }), await redis.open(name, {}, { layout })];
  await build(one.filter, [], target);
  await one.filter.add(idsOf('added', 3000));
  await other.filter.check(['warm']);
  const segments = await admin.keys(`bloom:{${name}}:layer:*`);
  expect(segments.length).toBeGreaterThan(2);
  return { name, one, other, segments };
}

describe('A filter in Redis that grew', () => {
  it.each<[string, (filter: { name: string; segments: string[] }) => Promise<unknown>]>([
    ['a segment is gone', ({ segments }) => admin.del(segments[0]!)],
    [
      'a segment is cut short',
      async ({ segments }) =>
        admin.set(segments[1]!, (await admin.getBuffer(segments[1]!))!.subarray(0, 100)),
    ],
    [
      'a segment has another type',
      async ({ segments }) => (await admin.del(segments[2]!), admin.lpush(segments[2]!, 'x')),
    ],
    [
      'a segment has other bytes',
      async ({ segments }) => admin.set(segments[0]!, Buffer.alloc(await admin.strlen(segments[0]!))),
    ],
    ['the metadata are gone', ({ name }) => admin.del(`bloom:{${name}}:meta`)],
    [
      'the metadata are of another type',
      async ({ name }) => (await admin.del(`bloom:{${name}}:meta`), admin.set(`bloom:{${name}}:meta`, 'x')),
    ],
    [
      'a layer is missing in the metadata',
      async ({ name }) => {
        const settings = JSON.parse((await admin.hget(`bloom:{${name}}:meta`, 'settings'))!) as {
          layers: unknown[];
        };
        settings.layers.pop();
        await admin.hset(`bloom:{${name}}:meta`, { settings: JSON.stringify(settings), token: 'another' });
      },
    ],
    ['everything is gone', () => admin.flushall()],
  ])('denies nothing when %s, and works again after a build', async (_, damage) => {
    const { name, one, other, segments } = await grown();
    await damage({ name, segments });
    const ids = idsOf('added', 3000);
    for (let round = 0; round < 3; round++) {
      for (const { filter } of [other, one]) expect(await filter.check(ids)).not.toContain('absent');
    }
    expect((await one.filter.describe()).state).toBe('lost');
    expect(await one.filter.check(['added-1', 'x'])).toEqual(['unknown', 'unknown']);
    expect(await other.filter.check(['added-1', 'x'])).toEqual(['unknown', 'unknown']);
    expect([...one.events, ...other.events].map(({ type }) => type)).toContain('state-changed');
    await build(one.filter, ['new'], target);
    expect(await one.filter.check(['new', 'added-1'])).toEqual(['maybe', 'absent']);
    const isBack = async () => (await other.filter.check(['added-1']))[0] === 'absent';
    await eventually('the other process sees it', isBack);
    expect(await other.filter.check(['new', 'added-1'])).toEqual(['maybe', 'absent']);
  });

  it.each([
    ['segment', (_: string, segments: string[]) => admin.del(segments[0]!)],
    ['hash of metadata', (name: string) => admin.del(`bloom:{${name}}:meta`)],
  ])('removes what is left of it when a %s is lost', async (_, damage) => {
    const { name, one, segments } = await grown();
    await damage(name, segments);
    await one.filter.check(idsOf('added', 100));
    expect((await one.filter.describe()).state).toBe('lost');
    expect(await admin.keys(`bloom:{${name}}:*`)).toEqual([`bloom:{${name}}:meta`]);
  });

  it('is suspect after the server restarted', async () => {
    const server = await RedisFixture.start(['--save', '', '--appendonly', 'yes']);
    try {
      const { filter, events } = await server.open('restarted', {}, { layout });
      await build(filter, [], target);
      await filter.add(idsOf('added', 3000));
      await server.server.restart();
      await eventually('it is suspect', async () => {
        const verdicts = await filter.check(idsOf('added', 50));
        expect(verdicts).not.toContain('absent');
        return events.some((event) => event.type === 'state-changed' && event.state === 'suspect');
      });
      expect((await filter.describe()).state).toBe('suspect');
    } finally {
      await server.close();
    }
  });
});

describe('A process that does not know that a filter grows', () => {
  it('leaves it alone, and answers nothing', async () => {
    const { name, one } = await grown();
    const old = await redis.open(name);
    expect(await old.filter.check(['added-1', 'x'])).toEqual(['unknown', 'unknown']);
    await expect(old.filter.add(['y'])).rejects.toThrow(BloomUnavailableError);
    expect(old.events).toContainEqual(expect.objectContaining({ type: 'newer-format', found: '2' }));
    expect(await one.filter.check(['added-1'])).toEqual(['maybe']);
    // One of them may be a false positive.
    expect(await one.filter.check(idsOf('other', 20))).toContain('absent');
  });

  it('and one that does leaves a filter alone that was built to its size', async () => {
    const name = redis.name();
    const old = await redis.open(name);
    await build(old.filter, ['a']);
    const other = await redis.open(name, {}, { layout });
    expect(await other.filter.check(['a', 'x'])).toEqual(['unknown', 'unknown']);
    await expect(other.filter.add(['y'])).rejects.toThrow(BloomUnavailableError);
    expect(await old.filter.check(['a', 'x'])).toEqual(['maybe', 'absent']);
  });
});
