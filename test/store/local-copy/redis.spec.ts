import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import type { BloomEvent } from '../../../src/common/index.js';
import type { StoredFilter } from '../../../src/store/index.js';
import { LocalCopyStore } from '../../../src/store/local-copy/index.js';
import { build, idsOf } from '../../support/built-filter.js';
import { eventually } from '../../support/eventually.js';
import { commandCounts, commandsFrom, RedisFixture } from '../../support/redis-fixture.js';
import { openOptions } from '../../support/open-options.js';

const BUILT = idsOf('built', 300);
const SMALL = { capacity: 1000 };
/** Three segments. */
const LARGE = { capacity: 700_000 };

let redis: RedisFixture;
let admin: Redis;
beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterAll(() => redis.close());

describe('A replica of a filter in Redis', () => {
  let name: string;
  let replica: StoredFilter;
  let other: StoredFilter;
  let events: BloomEvent[];
  let commands: () => Promise<Record<string, number>>;

  beforeEach(async () => {
    name = redis.name();
    other = (await redis.open(name)).filter;
    await build(other, BUILT, SMALL);
    events = [];
    const { store } = await redis.open(name);
    replica = new LocalCopyStore(store).open(openOptions({ name, emit: (event) => events.push(event) }));
    await loaded();
    commands = await commandsFrom(admin, replica);
  });

  /** One lookup starts the load; from its end on ids that exist cost no command. */
  async function loaded(id = BUILT[0]!): Promise<void> {
    await eventually('the copy answers', async () => {
      await admin.config('RESETSTAT');
      await replica.check([id]);
      return Object.keys(await commandCounts(admin)).length === 0;
    });
  }

  it('sends no command for ids that exist, one by one, at once and many', async () => {
    expect(await replica.check(BUILT)).toEqual(BUILT.map(() => 'maybe'));
    expect(await Promise.all(BUILT.map((id) => replica.check([id])))).toEqual(BUILT.map(() => ['maybe']));
    expect(await commands()).toEqual({});
  });

  it('has every "absent" confirmed by one GETRANGE', async () => {
    expect(await replica.check(['x'])).toEqual(['absent']);
    expect(await commands()).toEqual({ getrange: 1 });
    expect(await replica.check(['x'])).toEqual(['absent']);
    expect(await commands()).toEqual({ getrange: 2 });
  });

  it('asks only for the ids that it does not know, in order and with doubles', async () => {
    // The first call loads the script.
    await replica.check(['x', 'y']);
    commands = await commandsFrom(admin, replica);
    const asked = ['built-1', 'x', 'built-2', 'y', 'x', 'built-1'];
    expect(await replica.check(asked)).toEqual(['maybe', 'absent', 'maybe', 'absent', 'absent', 'maybe']);
    expect(await commands()).toEqual({ evalsha: 1, getrange: 3 });
  });

  it('finds what another process adds at once, and knows it from then on', async () => {
    await other.add(['late', 'later']);
    commands = await commandsFrom(admin, replica);
    expect(await replica.check(['late'])).toEqual(['maybe']);
    expect(await commands()).toEqual({ getrange: 1 });
    expect(await replica.check(['late'])).toEqual(['maybe']);
    expect(await commands()).toEqual({ getrange: 1 });
    expect(await replica.check(['later', 'x'])).toEqual(['maybe', 'absent']);
    commands = await commandsFrom(admin, replica);
    expect(await replica.check(['later', 'late'])).toEqual(['maybe', 'maybe']);
    expect(await commands()).toEqual({});
  });

  it('knows what this process adds', async () => {
    await replica.add(['mine', 'mine too']);
    commands = await commandsFrom(admin, replica);
    expect(await replica.check(['mine', 'mine too'])).toEqual(['maybe', 'maybe']);
    expect(await commands()).toEqual({});
  });

  it('sends every add, known or not: the staged generation may lack it', async () => {
    expect(await replica.add(['built-1'])).toEqual([false]);
    expect(await commands()).toMatchObject({ evalsha: 1 });
  });

  it('answers an id that is too long as the store does', async () => {
    expect(await replica.check(['x'.repeat(5000)])).toEqual(['absent']);
  });

  it.each([
    ['of the same size', SMALL],
    ['that is larger', LARGE],
  ])('follows a swap to a generation %s', async (_, plan) => {
    await build(other, ['built-1', 'new'], plan);
    expect(await replica.check(['built-1', 'new', 'built-2'])).toEqual(['maybe', 'maybe', 'absent']);
    expect(await replica.check(['built-2'])).toEqual(['absent']);
    await loaded('new');
    expect(await replica.check(['built-1', 'built-2', 'new'])).toEqual(['maybe', 'absent', 'maybe']);
    expect(events).toEqual([]);
  });

  it('follows a swap of this process as one of another, and denies no id of the new generation meanwhile', async () => {
    await build(replica, ['new'], SMALL);
    // The copy of the old generation lets through an id that was deleted.
    expect(await replica.check(['built-2'])).toEqual(['maybe']);
    expect(await replica.check(['new'])).toEqual(['maybe']);
    expect(await replica.check(['built-2'])).toEqual(['absent']);
    await loaded('new');
  });

  it('answers "unknown" for what it does not know when the filter is gone', async () => {
    await admin.flushall();
    expect(await replica.check(['x'])).toEqual(['unknown']);
    expect(await replica.check(['built-1', 'x'])).not.toContain('absent');
    expect((await replica.describe()).state).toBe('lost');
    expect(await replica.check(['built-1'])).toEqual(['unknown']);
    await build(other, BUILT, SMALL);
    await eventually('it is back', async () => (await replica.check(['x']))[0] === 'absent');
    await loaded();
  });

  it('never answers "absent" for what was added, through swaps and adds of others', async () => {
    const known = [...BUILT];
    let done = false;
    const writers = (async () => {
      for (let round = 0; round < 12; round++) {
        const late = idsOf(`late-${round}`, 20);
        await (round % 2 === 0 ? other : replica).add(late);
        known.push(...late);
        if (round % 3 === 2) await build(other, known, round % 2 === 0 ? SMALL : LARGE);
      }
      done = true;
    })();
    while (!done) {
      const asked = known.slice();
      const verdicts = await replica.check([...asked, 'x']);
      expect(verdicts.slice(0, -1)).not.toContain('absent');
      expect((await Promise.all(asked.slice(-30).map((id) => replica.check([id])))).flat()).not.toContain(
        'absent',
      );
    }
    await writers;
    expect(new Set(await replica.check(known))).toEqual(new Set(['maybe']));
  });
});
