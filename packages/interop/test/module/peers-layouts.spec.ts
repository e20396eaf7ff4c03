import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import type { Redis } from 'ioredis';
import {
  BloomConfigError,
  type BloomEvent,
  type BloomFilter,
  type BloomFilterOptions,
  BloomGuarded,
  type BloomLayout,
  BloomModule,
  BloomRegisters,
  getBloomFilterToken,
} from 'nestjs-bloom';
import { FilterMonitor } from '../../../../src/module/filter-monitor.js';
import { startContext } from '../../../../test/support/nest-app.js';
import { idsOf } from '../../../../test/support/built-filter.js';
import { eventually } from '../../../../test/support/eventually.js';
import { fillByPeer } from '../support/peers/peer.js';
import { goZeroPeer } from '../support/peers/go-zero-peer.js';
import { redissonPeer } from '../support/peers/redisson-peer.js';
import { PATIENT } from '../../../../test/support/patience.js';
import { RedisFixture } from '../../../../test/support/redis-fixture.js';
import { goZero, guava, redisson } from '../../src/index.js';

const BUILT = idsOf('product', 50);
const rows = new Map(BUILT.map((id) => [id, { id }]));

@Injectable()
class ProductRepository {
  queries = 0;

  @BloomGuarded('products')
  async find(id: string) {
    this.queries++;
    return rows.get(id) ?? null;
  }

  @BloomRegisters('products', { id: 'id' })
  async create(product: { id: string }) {
    rows.set(product.id, product);
    return product;
  }
}

let redis: RedisFixture;
let admin: Redis;
const opened: TestingModule[] = [];

beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterEach(async () => {
  for (const module of opened.splice(0)) await module.close();
});
afterAll(() => redis.close());

async function start(options: Partial<BloomFilterOptions>) {
  const events: BloomEvent[] = [];
  const module = await startContext({
    imports: [
      BloomModule.forRoot({
        redis: redis.server.url,
        ...PATIENT,
        onEvent: (event) => events.push(event),
      }),
      BloomModule.forFeature([{ name: 'products', capacity: 1000, audit: false, ...options }]),
    ],
    providers: [ProductRepository],
  });
  opened.push(module);
  const filter = module.get<BloomFilter>(getBloomFilterToken('products'), { strict: false });
  return { filter, events, repository: module.get(ProductRepository) };
}

describe('An application that guards with a filter of another system', () => {
  const peer = goZeroPeer(20_000);

  it('stops lookups of ids that go-zero has not added, and nothing else', async () => {
    await fillByPeer(peer, admin, 'guarded', BUILT);
    const { filter, repository, events } = await start({ layout: peer.layout('guarded') });
    expect(await repository.find('product-1')).toEqual({ id: 'product-1' });
    expect(await repository.find('nothing')).toBeNull();
    expect(repository.queries).toBe(1);
    await repository.create({ id: 'from here' });
    expect(await peer.has(admin, 'guarded', 'from here')).toBe(true);
    await peer.add(admin, 'guarded', 'from there');
    expect(await filter.checkMany(['from here', 'from there', 'nothing'])).toEqual([
      'maybe',
      'maybe',
      'absent',
    ]);
    expect(await filter.info()).toMatchObject({
      layout: 'go-zero',
      state: 'ready',
      bytes: 2500,
      hashCount: 14,
      capacity: 1000,
    });
    await expect(filter.reset()).rejects.toThrow(/other systems/);
    await expect(filter.rebuild()).rejects.toThrow(/no source/);
    expect(events.filter(({ type }) => type === 'store-error')).toEqual([]);
  });

  it('lets everything through once the key is gone, until adopt()', async () => {
    await fillByPeer(peer, admin, 'gone', BUILT);
    const { filter, repository } = await start({ layout: peer.layout('gone') });
    expect(await repository.find('nothing')).toBeNull();
    expect(repository.queries).toBe(0);
    await admin.del('gone');
    expect(await repository.find('nothing')).toBeNull();
    expect(repository.queries).toBe(1);
    await expect(filter.adopt()).rejects.toThrow(/no key 'gone'/);
    await fillByPeer(peer, admin, 'gone', BUILT);
    await filter.adopt();
    expect(await repository.find('nothing')).toBeNull();
    expect(await repository.find('product-2')).toEqual({ id: 'product-2' });
    expect(repository.queries).toBe(2);
  });

  it('rebuilds it from its source when it is lost, for both sides', async () => {
    const redissons = redissonPeer({ codec: 'Kryo5Codec' });
    const source = {
      ids: async function* () {
        yield [...rows.keys()];
      },
    };
    const rebuild = { drainMs: 0 };
    const { filter, repository } = await start({ layout: redissons.layout('java'), source, rebuild });
    const isReady = async () => (await filter.info()).state === 'ready';
    await eventually('the filter is built', isReady);
    for (const id of BUILT) expect(await redissons.has(admin, 'java', id)).toBe(true);
    expect(await redissons.has(admin, 'java', 'nothing')).toBe(false);
    await admin.flushall();
    expect(await repository.find('product-3')).toEqual({ id: 'product-3' });
    await repository.find('nothing');
    await eventually('the filter is built again', isReady);
    expect(await filter.check('product-3')).toBe('maybe');
    expect(await filter.check('nothing')).toBe('absent');
    expect(await redissons.has(admin, 'java', 'product-3')).toBe(true);
    await expect(filter.adopt()).rejects.toThrow(/rebuild\(\)/);
  });
});

describe('A filter of another system that its bits do not suffice for', () => {
  it.each([
    [20_000, 0],
    [2000, 1],
  ])('is reported, and not rebuilt: a rebuild does not choose its size (%p bits)', async (bits, told) => {
    const peer = goZeroPeer(bits);
    const key = `full-${bits}`;
    const source = {
      ids: async function* () {
        yield BUILT;
      },
    };
    const rebuild = { drainMs: 0 };
    const { filter, events } = await start({ layout: peer.layout(key), capacity: 10, source, rebuild });
    await eventually('the filter is built', async () => (await filter.info()).state === 'ready');
    for (const id of idsOf('more', 100)) await peer.add(admin, key, id);
    await new FilterMonitor((event) => events.push(event)).look(filter as never);
    expect(events.filter(({ type }) => type === 'overfull')).toHaveLength(told);
    expect((await filter.info()).builds).toBe(1);
  });
});

describe('A layout of another system', () => {
  it.each<[layout: () => unknown, message: RegExp]>([
    [() => goZero({ bits: 1000 } as never), /goZero\(\): expected key/],
    [() => goZero({ key: '', bits: 1000 }), /goZero\(\): expected key/],
    [() => goZero({ key: 'a' } as never), /goZero\(\): expected bits/],
    [() => goZero({ key: 'a', bits: 8 }), /goZero\(\): expected bits .* from 64 to 4294967296, got 8/],
    [() => goZero({ key: 'a', bits: 2 ** 33 }), /goZero\(\): expected bits/],
    [() => goZero({ key: 'a', bits: 1000, foreignAdds: 'all' as never }), /goZero\(\): expected foreignAdds/],
    [() => goZero({ key: 'a', bits: 1000, adopt: true as never }), /goZero\(\): expected adopt/],
    [() => redisson({ codec: 'StringCodec' } as never), /redisson\(\): expected name/],
    [() => redisson({ name: 'a' } as never), /codec of Redisson/],
    [() => redisson({ name: 'a', codec: 'MarshallingCodec' as never }), /codec of Redisson/],
    [() => redisson({ name: 'a', codec: 'Kryo5Codec', type: 'Double' as never }), /codec of Redisson/],
    [() => redisson({ name: 'a', codec: 'Kryo5Codec', resize: 1 as never }), /redisson\(\): expected resize/],
    [() => guava({ key: 'a' } as never), /guava\(\): expected funnel/],
    [() => guava({ key: 'a', funnel: 'x' as never }), /guava\(\): expected funnel/],
    [() => guava({ key: 'a', funnel: 'longFunnel', strategy: 'x' as never }), /guava\(\): expected strategy/],
  ])('is refused where it is made when it cannot work: %p', (layout, message) => {
    expect(layout).toThrow(message);
    expect(layout).toThrow(BloomConfigError);
  });

  it.each<[layout: BloomLayout, capacity: number, message: RegExp]>([
    [goZero({ key: 'a}b', bits: 1000 }), 1000, /hash tag/],
    [redisson({ name: 'a', codec: 'StringCodec' }), 1e9, /4294967294 bits/],
  ])('is refused at start when the filter cannot have it: %p', async (layout, capacity, message) => {
    await expect(start({ layout, capacity })).rejects.toThrow(message);
  });

  it('needs Redis', async () => {
    const imports = [
      BloomModule.forRoot({
        filters: [{ name: 'products', capacity: 10, layout: goZero({ key: 'a', bits: 1000 }) }],
      }),
    ];
    await expect(startContext({ imports })).rejects.toThrow(/the option redis/);
  });

  it('has no copies in the process', async () => {
    const layout = goZero({ key: 'a', bits: 1000 });
    await expect(start({ layout, replica: 'verified' })).rejects.toThrow(/no copies/);
  });

  it('may have bits that are too few for any plan', async () => {
    const layout = goZero({ key: 'huge', bits: 1000 });
    const { filter, events } = await start({ layout, capacity: 900_000_000, errorRate: 1e-4 });
    await eventually('it is told', () => events.some(({ type }) => type === 'advice'));
    expect(await filter.check('a')).toBe('unknown');
  });

  it('says when its bits are too few', async () => {
    const { events } = await start({ layout: goZero({ key: 'small', bits: 2000 }) });
    const advice = () => events.filter((event) => event.type === 'advice').map(({ text }) => text);
    await eventually('it is said', () => advice().some((text) => /2000 bits of key 'small'/.test(text)));
  });
});
