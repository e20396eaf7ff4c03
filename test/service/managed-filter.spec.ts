import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  BloomConfigError,
  type BloomEvent,
  BloomIdError,
  BloomUnavailableError,
  systemClock,
} from '../../src/common/index.js';
import {
  type BloomFilterOptions,
  BloomService,
  defineFilter,
  ManagedFilter,
} from '../../src/service/index.js';
import type { FilterStore } from '../../src/store/index.js';
import { MemoryStore } from '../../src/store/memory/index.js';
import { idsOf } from '../support/built-filter.js';
import { RedisFixture } from '../support/redis-fixture.js';

let events: BloomEvent[];
const emit = (event: BloomEvent) => void events.push(event);
beforeEach(() => {
  events = [];
});

function open(store: FilterStore, options: Partial<BloomFilterOptions> = {}): ManagedFilter {
  const definition = defineFilter({
    name: 'products',
    capacity: 1000,
    errorRate: 1e-6,
    create: 'first-start',
    ...options,
  });
  return new ManagedFilter(definition, { store, emit, clock: systemClock });
}

describe('The service', () => {
  it('gives filters by name, and names those that exist when there is none of a name', () => {
    const service = new BloomService(emit);
    expect(() => service.filter('products')).toThrow(
      /No filter is named 'products'. No filter is registered/,
    );
    const filter = open(new MemoryStore());
    service.register(filter);
    expect(service.filter('products')).toBe(filter);
    expect(service.filters()).toEqual([filter]);
    expect(() => service.filter('prodcts')).toThrow(BloomConfigError);
    expect(() => service.filter('prodcts')).toThrow(/Registered filters: 'products'. Register it with/);
  });

  it('refuses a second filter of a name', () => {
    const service = new BloomService(emit);
    service.register(open(new MemoryStore()));
    expect(() => service.register(open(new MemoryStore()))).toThrow(/Two filters are named 'products'/);
  });
});

describe('A filter', () => {
  let filter: ManagedFilter;
  afterEach(() => filter.close());

  it('takes 1, 1n and "1" for one id, and what normalize makes one', async () => {
    filter = open(new MemoryStore(), { normalize: (id) => String(id).toLowerCase() });
    expect(await filter.addMany([1, 'ABC'])).toEqual([true, true]);
    expect(await filter.addMany([1n, '1', 'abc', 'Abc'])).toEqual([false, false, false, false]);
    expect(await filter.checkMany(['1', 'aBc', 'abd'])).toEqual(['maybe', 'maybe', 'absent']);
    expect(await filter.mightContainMany(['1', 'abd'])).toEqual([true, false]);
    expect([await filter.mightContain('abc'), await filter.mightContain('abd')]).toEqual([true, false]);
  });

  it('lets a lookup of what is no id through with an event, and refuses to add it', async () => {
    filter = open(new MemoryStore());
    await filter.add('a');
    expect(await filter.checkMany(['a', null as never, 'b', ''])).toEqual([
      'maybe',
      'unknown',
      'absent',
      'unknown',
    ]);
    expect(await filter.mightContain(0.5)).toBe(true);
    expect(events.filter(({ type }) => type === 'invalid-id')).toHaveLength(3);
    await expect(filter.addMany(['c', {} as never])).rejects.toThrow(BloomIdError);
    expect(await filter.check('c')).toBe('absent');
    expect([await filter.checkMany([]), await filter.addMany([])]).toEqual([[], []]);
  });

  it('lets a lookup through, and refuses an add, when normalize throws', async () => {
    filter = open(new MemoryStore(), {
      normalize: () => {
        throw new Error('no phone number');
      },
    });
    expect(await filter.check('a')).toBe('unknown');
    await expect(filter.add('a')).rejects.toThrow('no phone number');
  });

  it('knows its figures', async () => {
    filter = open(new MemoryStore(), { errorRate: 0.01 });
    expect(await filter.info()).toMatchObject({
      name: 'products',
      state: 'unbuilt',
      bytes: 0,
      modelledErrorRate: undefined,
      fillRatio: undefined,
    });
    await filter.addMany(idsOf('id', 1000));
    const info = await filter.info();
    expect(info).toMatchObject({
      state: 'ready',
      store: 'memory',
      layout: 'blocked',
      capacity: 1000,
      errorRate: 0.01,
      builds: 1,
    });
    expect(info.count).toBeGreaterThan(980);
    expect(info.modelledErrorRate).toBeGreaterThan(0.005);
    expect(info.modelledErrorRate).toBeLessThan(0.01);
    // A full filter of this layout has about half of its bits set.
    expect(Math.abs(info.fillRatio! - 0.5)).toBeLessThan(0.06);
    expect(info.builtAt).toBeInstanceOf(Date);
    expect(info.bytes % 256).toBe(0);
  });

  it('cannot be rebuilt without a source, nor emptied with one', async () => {
    filter = open(new MemoryStore());
    await expect(filter.rebuild()).rejects.toThrow(/has no source to rebuild it from/);
    await filter.close();
    filter = open(new MemoryStore(), { source: { async *ids() {} } });
    await expect(filter.reset()).rejects.toThrow(/Call rebuild\(\) instead/);
  });

  it('stops its rebuild when it is closed', async () => {
    let reach!: () => void;
    const reached = new Promise<void>((resolve) => (reach = resolve));
    filter = open(new MemoryStore(), {
      source: {
        async *ids() {
          reach();
          await new Promise(() => {});
          yield 'never';
        },
      },
    });
    const run = filter.rebuild();
    run.catch(() => {});
    await reached;
    await filter.close();
    await expect(run).rejects.toMatchObject({ code: 'BLOOM_REBUILD', reason: 'aborted' });
  });
});

describe('A filter without a source on Redis', () => {
  let redis: RedisFixture;
  beforeAll(async () => {
    redis = await RedisFixture.start();
  });
  afterAll(() => redis.close());

  it('is made once by instances that start together, and loses no id of theirs', async () => {
    const instances = await Promise.all([1, 2, 3].map(() => redis.open('unused')));
    const filters = instances.map(({ store }) => open(store, { name: 'together' }));
    await Promise.all(
      filters.flatMap((filter, i) => [filter.create(), ...idsOf(`id-${i}`, 50).map((id) => filter.add(id))]),
    );
    const ids = [0, 1, 2].flatMap((i) => idsOf(`id-${i}`, 50));
    for (const filter of filters) {
      expect(new Set(await filter.checkMany(ids))).toEqual(new Set(['maybe']));
      expect((await filter.info()).builds).toBe(1);
      await filter.close();
    }
  });

  it('takes the bytes of an id as they are when it is called', async () => {
    const { store } = await redis.open('unused');
    const filter = open(store, { name: 'bytes' });
    const bytes = new Uint8Array([1, 2, 3]);
    const added = filter.add(bytes);
    bytes.fill(0);
    await added;
    expect(await filter.check(new Uint8Array([1, 2, 3]))).toBe('maybe');
    bytes.set([1, 2, 3]);
    const checked = filter.check(bytes);
    bytes.fill(9);
    expect(await checked).toBe('maybe');
    await filter.close();
  });

  it('stays unknown after a loss until it is reset, and is empty then', async () => {
    const { store } = await redis.open('unused');
    const filter = open(store, { name: 'loose' });
    await filter.add('before');
    await redis.client().del('bloom:{loose}:0');
    expect(await filter.check('before')).toBe('unknown');
    await expect(filter.add('meanwhile')).rejects.toThrow(BloomUnavailableError);
    expect(await filter.checkMany(['before', 'meanwhile', 'never'])).toEqual([
      'unknown',
      'unknown',
      'unknown',
    ]);
    await filter.reset();
    expect(await filter.checkMany(['before', 'meanwhile'])).toEqual(['absent', 'absent']);
    await filter.add('after');
    expect(await filter.check('after')).toBe('maybe');
    await filter.close();
  });
});
