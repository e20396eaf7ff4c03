import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { setTimeout as delay } from 'node:timers/promises';
import type { BloomEvent } from '../../../src/common/index.js';
import type { StoredFilter } from '../../../src/store/index.js';
import { type CopyLimits, LocalCopyStore } from '../../../src/store/local-copy/index.js';
import { build, idsOf } from '../../support/built-filter.js';
import { CopyableOriginal } from '../../support/copyable-original.js';
import { eventually } from '../../support/eventually.js';
import { openOptions } from '../../support/open-options.js';
import { commandCounts, RedisFixture } from '../../support/redis-fixture.js';

const BUILT = idsOf('built', 100);
const PLAN = { capacity: 70_000 };
const FILTERS = 4;
const KIB = 1024;

describe('All copies of a process', () => {
  let redis: RedisFixture;
  let admin: Redis;
  let events: BloomEvent[];
  beforeAll(async () => {
    redis = await RedisFixture.start();
    admin = redis.client();
  });
  afterAll(() => redis.close());

  async function started(limits?: CopyLimits): Promise<{ filters: StoredFilter[]; bytes: number }> {
    const { store } = await redis.open('any');
    const replicas = new LocalCopyStore(store, limits);
    events = [];
    const filters: StoredFilter[] = [];
    let bytes = 0;
    for (let i = 0; i < FILTERS; i++) {
      const name = redis.name();
      await build((await redis.open(name)).filter, BUILT, PLAN);
      bytes += await admin.strlen(`bloom:{${name}}:0`);
      filters.push(replicas.open(openOptions({ name, emit: (event) => events.push(event) })));
    }
    return { filters, bytes };
  }

  let repliesToThis = 0;

  /** Bytes that the server has sent to others than this. */
  async function sent(): Promise<number> {
    const stats = await admin.info('stats');
    const bytes = Number(/total_net_output_bytes:(\d+)/.exec(stats)![1]) - repliesToThis;
    repliesToThis += Buffer.byteLength(stats);
    return bytes;
  }

  const haveAnswered = async (filters: readonly StoredFilter[]) => {
    await admin.config('RESETSTAT');
    for (const filter of filters) await filter.check([BUILT[0]!]);
    return Object.keys(await commandCounts(admin)).length === 0;
  };

  it('are loaded within the bytes of a second, one after the other', async () => {
    const bytesPerSecond = 512 * KIB;
    const { filters, bytes } = await started({ bytesPerSecond, maxBytes: Infinity });
    const began = performance.now();
    const before = await sent();
    for (const filter of filters) await filter.check([BUILT[0]!]);
    await eventually('all bytes are sent', async () => {
      const sinceFirst = (await sent()) - before;
      // A piece at the beginning, one on its way, and the descriptions.
      expect(sinceFirst).toBeLessThan(((performance.now() - began) / 1000) * bytesPerSecond + 160 * KIB);
      await delay(50);
      return sinceFirst >= bytes;
    });
    expect(performance.now() - began).toBeGreaterThan(0.8 * (bytes / bytesPerSecond) * 1000);
    await eventually('the copies answer', () => haveAnswered(filters));
  });

  it('hold no more memory than allowed, and one filter says so', async () => {
    const one = await started();
    const maxBytes = one.bytes / 2;
    const { filters } = await started({ bytesPerSecond: Infinity, maxBytes });
    for (const filter of filters) await filter.check([BUILT[0]!]);
    await eventually('two copies answer', () => haveAnswered(filters.slice(0, 2)));
    await admin.config('RESETSTAT');
    for (const filter of filters) expect(await filter.check([...BUILT, 'x'])).toHaveLength(BUILT.length + 1);
    const advice = events.filter(({ type }) => type === 'advice');
    const limit = `copies.maxBytes is ${maxBytes.toLocaleString('en')} bytes`;
    expect(advice).toMatchObject([{ text: expect.stringContaining(limit) }]);
    // A copy that is dropped makes room.
    await filters[0]!.close();
    await filters[3]!.check([BUILT[0]!]);
    await eventually('the next copy answers', () => haveAnswered([filters[3]!]));
  });
});

describe('While the copy of the next generation is loaded', () => {
  let original: CopyableOriginal;
  let filter: StoredFilter;
  afterEach(() => filter.close());

  async function swapped(next: readonly string[], before = BUILT, capacity = 20_000): Promise<void> {
    original = new CopyableOriginal();
    original.swap(before, capacity);
    filter = new LocalCopyStore(original).open(openOptions());
    await filter.checkOne('built-0');
    await original.answerAll();
    original.swap(next);
    // Meets the next generation.
    await filter.describe();
    original.asked.length = 0;
  }

  it('ids of the one before need no question, others are asked for', async () => {
    await swapped([...BUILT.slice(1), 'new']);
    for (const id of BUILT) expect(await filter.checkOne(id)).toBe('maybe');
    expect(original.asked).toEqual([]);
    expect(await filter.checkOne('new')).toBe('maybe');
    expect(await filter.checkOne('nobody')).toBe('absent');
    expect(original.asked).toEqual([['new'], ['nobody']]);
    await original.answerAll();
    expect(await filter.checkOne('built-0')).toBe('absent');
    original.asked.length = 0;
    for (const id of BUILT.slice(1)) expect(await filter.checkOne(id)).toBe('maybe');
    expect(original.asked).toEqual([]);
  });

  it('one answer about several ids is from the next one alone', async () => {
    await swapped(['new']);
    expect(await filter.check(['built-0', 'new'])).toEqual(['absent', 'maybe']);
  });

  it('one that lets almost everything through is of no use', async () => {
    await swapped(['new'], idsOf('built', 5000), 20);
    expect(await filter.checkOne('built-0')).toBe('absent');
  });

  it('nor is one of a filter that is distrusted, or whose load fails', async () => {
    await swapped(['new']);
    await filter.distrust('a reason');
    expect(await filter.checkOne('built-0')).toBe('absent');
    await swapped(['new']);
    original.pieces.shift()!.answer(new Error('no'));
    await new Promise(setImmediate);
    expect(await filter.checkOne('built-0')).toBe('absent');
  });
});
