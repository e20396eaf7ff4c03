import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import type { Redis } from 'ioredis';
import {
  type BloomEvent,
  type BloomFilter,
  type BloomFilterOptions,
  BloomConfigError,
  BloomFullError,
  BloomGuarded,
  BloomModule,
  BloomRegisters,
  getBloomFilterToken,
} from 'nestjs-bloom';
import { startContext } from '../../../../test/support/nest-app.js';
import { bfFixture, describeBf } from '../../../../test/support/bf-server.js';
import { idsOf } from '../../../../test/support/built-filter.js';
import { eventually } from '../../../../test/support/eventually.js';
import { PATIENT } from '../../../../test/support/patience.js';
import type { RedisFixture } from '../../../../test/support/redis-fixture.js';
import { redisBloom } from '../../src/index.js';

@Injectable()
class ProductRepository {
  queries = 0;
  readonly rows = new Set(idsOf('product', 50));

  @BloomGuarded('products')
  async find(id: string) {
    this.queries++;
    return this.rows.has(id) ? { id } : null;
  }

  @BloomRegisters('products', { id: 'id' })
  async create(product: { id: string }) {
    this.rows.add(product.id);
    return product;
  }

  async *ids() {
    yield [...this.rows];
  }
}

describeBf('An application that guards with a filter of BF.* commands', () => {
  let redis: RedisFixture;
  let admin: Redis;
  const opened: TestingModule[] = [];

  beforeAll(async () => {
    redis = await bfFixture();
    admin = redis.client();
  });
  afterEach(async () => {
    for (const module of opened.splice(0)) await module.close();
  });
  afterAll(() => redis.close());

  async function start(
    key: string | undefined,
    options: Omit<Partial<BloomFilterOptions>, 'source'> & { source?: boolean },
  ) {
    const { source = false, ...others } = options;
    const events: BloomEvent[] = [];
    const prefix = redis.name();
    const module = await startContext({
      imports: [
        BloomModule.forRoot({
          redis: redis.server.url,
          keyPrefix: prefix,
          ...PATIENT,
          onEvent: (event) => events.push(event),
        }),
        BloomModule.forFeature([
          {
            name: 'products',
            capacity: 1000,
            layout: redisBloom(key === undefined ? {} : { key }),
            audit: false,
            ...(source && { source: ProductRepository, rebuild: { drainMs: 0 } }),
            ...others,
          },
        ]),
      ],
      providers: [ProductRepository],
    });
    opened.push(module);
    const filter = module.get<BloomFilter>(getBloomFilterToken('products'), { strict: false });
    return { filter, events, prefix, repository: module.get(ProductRepository) };
  }

  const isReady = (filter: BloomFilter) =>
    eventually('the filter is ready', async () => (await filter.info()).state === 'ready');

  it('builds it from its source, keeps absent ids away, and finds what peers add', async () => {
    const key = `shop-${redis.name()}`;
    const { filter, repository } = await start(key, { source: true });
    await isReady(filter);
    expect(await repository.find('product-1')).toEqual({ id: 'product-1' });
    expect(await repository.find('nothing')).toBeNull();
    expect(repository.queries).toBe(1);
    await repository.create({ id: 'from here' });
    expect(Number(await admin.call('BF.EXISTS', key, 'from here'))).toBe(1);
    await admin.call('BF.ADD', key, 'from there');
    expect(await filter.checkMany(['from here', 'from there', 'nothing'])).toEqual([
      'maybe',
      'maybe',
      'absent',
    ]);
    expect(await filter.info()).toMatchObject({ layout: 'redisbloom', count: 52, capacity: 1000, builds: 1 });
    expect(await filter.rebuild()).toMatchObject({ outcome: 'published', ids: 51 });
    expect(await filter.check('from here')).toBe('maybe');
  });

  it('rebuilds it automatically when it is lost', async () => {
    const key = `shop-${redis.name()}`;
    const { filter, repository, events } = await start(key, { source: true });
    await isReady(filter);
    await admin.del(key);
    await admin.call('BF.ADD', key, 'of a peer that does not know');
    expect(await repository.find('product-1')).toEqual({ id: 'product-1' });
    await isReady(filter);
    expect(await filter.checkMany(['product-1', 'nothing'])).toEqual(['maybe', 'absent']);
    const states = events.filter(({ type }) => type === 'state-changed');
    expect(states).toContainEqual(expect.objectContaining({ state: 'lost' }));
  });

  it('without a source makes one of its own, and empties it by reset() alone', async () => {
    const { filter, prefix } = await start(undefined, { create: 'first-start' });
    expect(await filter.check('a')).toBe('absent');
    expect(await filter.add('a')).toBe(true);
    await expect(filter.adopt()).rejects.toThrow(BloomConfigError);
    const [key] = await admin.keys(`${prefix}:{products}:bf`);
    await admin.del(key!);
    await eventually('it is lost', async () => (await filter.check('a')) === 'unknown');
    await expect(filter.add('b')).rejects.toThrow(/reset\(\)/);
    await filter.reset();
    expect(await filter.checkMany(['a', 'b'])).toEqual(['absent', 'absent']);
    expect(await filter.add('b')).toBe(true);
  });

  it('without a source takes that of a peer, and after a loss by adopt() alone', async () => {
    const key = `shop-${redis.name()}`;
    await admin.call('BF.MADD', key, ...idsOf('product', 50));
    const { filter, repository } = await start(key, {});
    await isReady(filter);
    expect(await repository.find('product-1')).toEqual({ id: 'product-1' });
    expect(await repository.find('nothing')).toBeNull();
    await expect(filter.reset()).rejects.toThrow(BloomConfigError);
    await admin.del(key);
    expect(await filter.check('product-1')).toBe('unknown');
    await admin.call('BF.MADD', key, ...idsOf('product', 50));
    expect(await filter.check('product-1')).toBe('unknown');
    await filter.adopt();
    expect(await filter.checkMany(['product-1', 'nothing'])).toEqual(['maybe', 'absent']);
  });

  it('tells the caller of an add that a filter which does not scale is full', async () => {
    const { filter } = await start(undefined, {
      capacity: 10,
      create: 'first-start',
      layout: redisBloom({ nonScaling: true }),
    });
    for (let i = 0; i < 10; i++) await filter.add(`id-${i}`);
    await expect(filter.addMany(['one', 'two'])).rejects.toThrow(BloomFullError);
  });
});
