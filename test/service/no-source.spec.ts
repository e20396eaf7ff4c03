import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  BloomConfigError,
  type BloomEvent,
  BloomUnavailableError,
  systemClock,
} from '../../src/common/index.js';
import { type BloomFilterOptions, defineFilter, ManagedFilter } from '../../src/service/index.js';
import type { FilterStore } from '../../src/store/index.js';
import { MemoryStore } from '../../src/store/memory/index.js';
import { RedisFixture } from '../support/redis-fixture.js';
import { cuckoo, goZero, redisBloom } from '@nestjs-bloom/interop';
import { scaling } from '@nestjs-bloom/interop/scaling';

let redis: RedisFixture;
beforeAll(async () => {
  redis = await RedisFixture.start();
});
afterAll(() => redis.close());

const STORES: [string, Partial<BloomFilterOptions>, () => Promise<FilterStore>][] = [
  ['in the process', {}, async () => new MemoryStore()],
  ['in the process that grows', { layout: scaling() }, async () => new MemoryStore()],
  ['in the process that can remove', { layout: cuckoo() }, async () => new MemoryStore()],
  ['on Redis', {}, async () => (await redis.open('unused')).store],
  ['on Redis, without a copy', { replica: 'off' }, async () => (await redis.open('unused')).store],
  ['on Redis that grows', { layout: scaling() }, async () => (await redis.open('unused')).store],
];

function open(store: FilterStore, options: Partial<BloomFilterOptions>): ManagedFilter {
  const emit: (event: BloomEvent) => void = () => {};
  const definition = defineFilter({
    name: 'seen',
    capacity: 1000,
    errorRate: 1e-6,
    create: 'first-start',
    ...options,
  });
  return new ManagedFilter(definition, { store, emit, clock: systemClock });
}

describe.each(STORES)('A filter without a source, %s', (_, options, openStore) => {
  it('rejects adds after a loss, until it is emptied', async () => {
    const filter = open(await openStore(), { name: redis.name(), ...options });
    await filter.add('before');
    const inStore = (filter as unknown as { inStore: { distrust(reason: string): Promise<void> } }).inStore;
    await inStore.distrust('A test says so.');
    await expect(filter.add('meanwhile')).rejects.toThrow(BloomUnavailableError);
    await expect(filter.addMany(['meanwhile', 'too'])).rejects.toThrow(
      /is suspect and has no source: the id was not recorded\..*Empty it with reset\(\), then add/,
    );
    expect(await filter.checkMany(['before', 'meanwhile'])).toEqual(['unknown', 'unknown']);
    await filter.reset();
    expect(await filter.add('after')).toBe(true);
    expect(await filter.checkMany(['before', 'after'])).toEqual(['absent', 'maybe']);
    await filter.close();
  });

  it("is not made by anybody with create: 'explicit' but by reset()", async () => {
    const filter = open(await openStore(), { name: redis.name(), create: 'explicit', ...options });
    await filter.create();
    expect((await filter.info()).state).toBe('unbuilt');
    await expect(filter.add('early')).rejects.toThrow(BloomUnavailableError);
    await expect(filter.add('early')).rejects.toThrow(/is unbuilt.*Create it with reset\(\), once/);
    expect(await filter.check('early')).toBe('unknown');
    await filter.reset();
    expect(await filter.checkMany(['early'])).toEqual(['absent']);
    expect(await filter.add('early')).toBe(true);
    await filter.close();
  });
});

describe.each([{}, { layout: scaling() }])('A filter without a source on Redis (%j)', (options) => {
  it.each<[string, (name: string) => Promise<unknown>]>([
    ['its keys were deleted', async (name) => redis.client().del(...(await keysOf(name)))],
    ['its metadata were deleted', (name) => redis.client().del(`bloom:{${name}}:meta`)],
    ['everything was deleted', () => redis.client().flushall()],
  ])('rejects the first add already when %s', async (_, damage) => {
    const name = redis.name();
    const filter = open((await redis.open('unused')).store, { name, ...options });
    await filter.add('before');
    await damage(name);
    await expect(filter.add('meanwhile')).rejects.toThrow(BloomUnavailableError);
    expect(await filter.checkMany(['before', 'meanwhile'])).toEqual(['unknown', 'unknown']);
    await filter.close();
  });

  it("stays unknown with create: 'explicit' when Redis was emptied while no process ran", async () => {
    const name = redis.name();
    const before = open((await redis.open('unused')).store, { name, create: 'explicit', ...options });
    await before.reset();
    await before.add('known');
    await before.close();
    await redis.client().flushall();

    const after = open((await redis.open('unused')).store, { name, create: 'explicit', ...options });
    await after.create();
    expect(await after.check('known')).toBe('unknown');
    await expect(after.add('new')).rejects.toThrow(BloomUnavailableError);
    expect(await after.check('known')).toBe('unknown');
    expect(await keysOf(name)).toEqual([]);
    await after.reset();
    expect(await after.add('new')).toBe(true);
    await after.close();
  });
});

describe('The option create', () => {
  const source = { async *ids() {} };
  it.each<[string, Partial<BloomFilterOptions>, string]>([
    ['a filter without a source', {}, 'explicit'],
    ['one that grows', { layout: scaling() }, 'explicit'],
    ['one of BF.* on a key of its own', { layout: redisBloom() }, 'explicit'],
    ['one on a key of other systems', { layout: redisBloom({ key: 'users' }) }, 'first-start'],
    ['one with a source', { source }, 'first-start'],
  ])('has a default for %s', (_, options, expected) => {
    expect(defineFilter({ name: 'seen', capacity: 1000, ...options }).create).toBe(expected);
  });

  it.each<[string, Partial<BloomFilterOptions>, RegExp]>([
    ['another word', { create: 'never' as never }, /expected create to be 'first-start' or 'explicit'/],
    ['a source', { create: 'explicit', source }, /expected create to be left out with a source/],
    [
      'a key of other systems',
      { create: 'explicit', layout: goZero({ key: 'users', bits: 1024 }) },
      /on a key of other systems/,
    ],
    ['such a key of BF.*', { create: 'explicit', layout: redisBloom({ key: 'users' }) }, /option adopt/],
  ])('is refused with %s', (_, options, message) => {
    const define = () => defineFilter({ name: 'seen', capacity: 1000, ...options });
    expect(define).toThrow(BloomConfigError);
    expect(define).toThrow(message);
  });
});

function keysOf(name: string): Promise<string[]> {
  return redis.client().keys(`bloom:{${name}}:*`);
}
