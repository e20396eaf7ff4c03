import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Inject, Injectable, Module, Scope } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import {
  BloomConfigError,
  type BloomEvent,
  type BloomFilterOptions,
  BloomGuarded,
  BloomGuardedMany,
  BloomGuardRunner,
  BloomIdError,
  BloomModule,
  BloomRegisters,
  BloomService,
  fromPages,
  scopedId,
} from 'nestjs-bloom';
import { registrarOf } from '../../src/guard/index.js';
import { startContext } from '../support/nest-app.js';
import { PATIENT } from '../support/patience.js';
import { RedisFixture } from '../support/redis-fixture.js';

interface Order {
  readonly no: string;
  readonly tenant: string;
}

const tenants = new AsyncLocalStorage<string>();

/** Rows of all tenants: the same numbers in each. */
let rows: Order[];

@Injectable()
class Orders {
  readonly asked: string[] = [];

  @BloomGuarded('orders', { id: (_tenant, no: string) => no, scope: (tenant: string) => tenant })
  async find(tenant: string, no: string): Promise<Order | null> {
    this.asked.push(`${tenant}/${no}`);
    return rows.find((row) => row.tenant === tenant && row.no === no) ?? null;
  }

  @BloomGuarded('orders', { scope: () => tenants.getStore() as string })
  async findHere(no: string): Promise<Order | null> {
    return this.load(tenants.getStore()!, no);
  }

  @BloomGuarded('orders', { id: 'no', scope: 'tenant', coalesce: { key: () => '' } })
  async findBy(order: Order): Promise<Order | null> {
    return this.load(order.tenant, order.no);
  }

  @BloomGuarded('orders', {
    onThrow: 'invalid',
    scope: (): string => {
      throw new RangeError('A test.');
    },
  })
  async findNowhere(_no: string): Promise<string> {
    return 'found';
  }

  @BloomGuardedMany('orders', { scope: (_nos, tenant: string) => tenant, key: (row: Order) => row.no })
  async findMany(nos: string[], tenant: string): Promise<(Order | null)[]> {
    this.asked.push(`${tenant}/${nos.join('+')}`);
    return rows.filter((row) => row.tenant === tenant && nos.includes(row.no));
  }

  @BloomRegisters('orders', { id: 'no', scope: 'tenant' })
  async create(order: Order): Promise<Order> {
    rows.push(order);
    return order;
  }

  @BloomRegisters('orders', { id: 'no', scope: (order: Order) => order.tenant })
  async createOther(order: Order): Promise<Order> {
    const made = { ...order, no: `${order.no}-made` };
    rows.push(made);
    return made;
  }

  @BloomRegisters('orders', {
    from: 'result',
    id: (made: Order[]) => made.map(({ no }) => no),
    scope: (_, tenant: string) => tenant,
  })
  async createMany(tenant: string, nos: string[]): Promise<Order[]> {
    const made = nos.map((no) => ({ tenant, no }));
    rows.push(...made);
    return made;
  }

  private async load(tenant: string, no: string): Promise<Order | null> {
    this.asked.push(`${tenant}/${no}`);
    return rows.find((row) => row.tenant === tenant && row.no === no) ?? null;
  }
}

const source = (scope = true) =>
  fromPages<Order>((after) => (after ? [] : rows), { key: 'no', ...(scope && { scope: 'tenant' }) });

describe('A filter whose ids have scopes', () => {
  let redis: RedisFixture;
  let app: TestingModule | undefined;
  let events: BloomEvent[];

  beforeAll(async () => {
    redis = await RedisFixture.start();
  });
  afterAll(() => redis.close());
  beforeEach(() => {
    events = [];
    rows = ['a', 'Zoë', '42'].flatMap((tenant) => ['1', '2', 'b:c'].map((no) => ({ tenant, no })));
  });
  afterEach(async () => {
    await app?.close();
    app = undefined;
  });

  async function start(
    options: Partial<BloomFilterOptions> = {},
    providers: (new () => unknown)[] = [Orders],
    keyPrefix = redis.name(),
  ) {
    @Module({
      imports: [
        BloomModule.forRoot({
          redis: redis.server.url,
          keyPrefix,
          ...PATIENT,
          onEvent: (event) => events.push(event),
          filters: [
            {
              name: 'orders',
              scoped: true,
              capacity: 1000,
              errorRate: 1e-6,
              source: source(),
              audit: false,
              rebuild: { onBoot: 'never', drainMs: 0 },
              ...options,
            },
          ],
        }),
      ],
      providers,
    })
    class App {}
    app = await startContext({ imports: [App] });
    const filter = app.get(BloomService, { strict: false }).filter('orders');
    const orders = providers.includes(Orders) ? app.get(Orders, { strict: false }) : new Orders();
    return { filter, keyPrefix, orders };
  }

  const invalid = () => events.filter(({ type }) => type === 'invalid-id');

  it('knows the ids of each tenant, and of no other one', async () => {
    const { filter, orders } = await start();
    expect(await filter.rebuild()).toMatchObject({ outcome: 'published', ids: 9 });
    expect(await orders.find('a', '1')).toEqual({ tenant: 'a', no: '1' });
    expect(await orders.find('Zoë', 'b:c')).toEqual({ tenant: 'Zoë', no: 'b:c' });
    expect(await orders.find('b', '1')).toBeNull();
    expect(await orders.find('a:b', 'c')).toBeNull();
    expect(await orders.find('a', '3')).toBeNull();
    expect(orders.asked).toEqual(['a/1', 'Zoë/b:c']);
    expect(await filter.checkMany([scopedId(42n, 1), scopedId('42', '1'), scopedId(43, 1)])).toEqual([
      'maybe',
      'maybe',
      'absent',
    ]);
    expect(await tenants.run('a', () => orders.findHere('2'))).toEqual({ tenant: 'a', no: '2' });
    expect(await tenants.run('b', () => orders.findHere('2'))).toBeNull();
    expect(await Promise.all(['a', '42', 'b'].map((tenant) => orders.findBy({ tenant, no: '1' })))).toEqual([
      { tenant: 'a', no: '1' },
      { tenant: '42', no: '1' },
      null,
    ]);
    expect(invalid()).toEqual([]);
  });

  it('never answers "absent" where the tenant of a call is not known', async () => {
    const { filter, orders } = await start();
    await filter.rebuild();
    rows.push({ tenant: 'undefined', no: '9' });
    expect(await orders.findHere('9')).toBeNull();
    expect(await orders.find('', '9')).toBeNull();
    expect(await orders.findNowhere('9')).toBe('found');
    expect(await orders.findMany(['9'], undefined as never)).toEqual([null]);
    expect(orders.asked).toEqual(['undefined/9', '/9', 'undefined/9']);
    expect(
      invalid().map(({ error }: BloomEvent & { error?: unknown }) => error instanceof BloomIdError),
    ).toEqual([false, false, false, false]);
    expect(filter.guarding.counts()).toMatchObject({ absent: 0 });
  });

  it('answers as for an absent id where the value is no id', async () => {
    const { filter, orders } = await start({}, [Orders]);
    await filter.rebuild();
    expect(await orders.find('a', undefined as never)).toBeNull();
    expect(invalid()).toMatchObject([{ error: expect.any(BloomIdError) }]);
  });

  it('asks for many ids of one tenant', async () => {
    const { filter, orders } = await start();
    await filter.rebuild();
    expect(await orders.findMany(['3', '2', 'b:c'], 'a')).toEqual([
      null,
      { tenant: 'a', no: '2' },
      { tenant: 'a', no: 'b:c' },
    ]);
    expect(orders.asked).toEqual(['a/2+b:c']);
    const load = filter.guardBatch(async (nos: string[]) => nos.map((no) => `a/${no}`), { scope: 'a' });
    expect(await load(['1', '3', '2'])).toEqual(['a/1', null, 'a/2']);
    const all = filter.guardBatch(async (ids: string[]) => ids);
    expect(await all([scopedId('a', 1), scopedId('b', 1)] as string[])).toEqual(['1:a:1', null]);
    expect(() => filter.guardBatch(async () => [], { scope: '' })).toThrow(BloomConfigError);
  });

  it('lets pass what is registered, of its tenant alone, and in another process', async () => {
    const { filter, orders, keyPrefix } = await start();
    await filter.rebuild();
    await orders.create({ tenant: 'a', no: '7' });
    await orders.createMany('b', ['7', '8']);
    await orders.createOther({ tenant: 'c', no: '7' });
    await filter.add(scopedId('d', 7));
    const all = ['a', 'b', 'c', 'd', 'e'].flatMap((tenant) =>
      ['7', '8', '7-made'].map((no) => scopedId(tenant, no)),
    );
    const known = ['1:a:7', '1:b:7', '1:b:8', '1:c:7', '1:c:7-made', '1:d:7'];
    const expected = all.map((id) => (known.includes(String(id)) ? 'maybe' : 'absent'));
    expect(await filter.checkMany(all)).toEqual(expected);
    await app!.close();
    const other = await start({}, [Orders], keyPrefix);
    expect(await other.filter.checkMany(all)).toEqual(expected);
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'advice', text: expect.stringContaining('BLOOM_OTHER_ID_WRITTEN') }),
    );
    expect(invalid()).toEqual([]);
  });

  it('normalizes ids and no scope', async () => {
    const normalized: unknown[] = [];
    const { filter } = await start({
      normalize: (id) => {
        normalized.push(id);
        return String(id).toLowerCase();
      },
    });
    await filter.rebuild();
    normalized.length = 0;
    await filter.add(scopedId('Acme', 'MUG'));
    expect(normalized).toEqual(['MUG']);
    expect(
      await filter.checkMany([scopedId('Acme', 'mug'), scopedId('Acme', 'Mug'), scopedId('acme2', 'mug')]),
    ).toEqual(['maybe', 'maybe', 'absent']);
  });

  it('refuses an id without a scope, and never answers it "absent"', async () => {
    const { filter } = await start();
    await filter.rebuild();
    for (const id of [7, '7', 7n, 'a:7', Uint8Array.of(7)]) {
      await expect(filter.add(id)).rejects.toThrow(BloomConfigError);
      await expect(filter.addMany([scopedId('a', 9), id])).rejects.toThrow(/an id with its scope/);
      await expect(filter.remove(id)).rejects.toThrow(BloomConfigError);
      expect(await filter.check(id)).toBe('unknown');
      expect(await filter.mightContain(id)).toBe(true);
    }
    expect(await filter.check(scopedId('a', 9))).toBe('absent');
  });

  it.each(['fail', 'skip'] as const)(
    'builds from no source without scopes (onBadId: %s)',
    async (onBadId) => {
      const { filter } = await start({
        source: source(false),
        rebuild: { onBoot: 'never', drainMs: 0, onBadId },
      });
      await expect(filter.rebuild({ force: true })).rejects.toThrow(/an id with its scope/);
      expect(await filter.check(scopedId('a', 1))).toBe('unknown');
    },
  );

  it('fails a rebuild over a row without a tenant', async () => {
    const { filter } = await start();
    await filter.rebuild();
    rows.push({ tenant: null as never, no: '1' });
    await expect(filter.rebuild()).rejects.toThrow(/Expected a scope/);
    expect(await filter.check(scopedId('a', 1))).toBe('maybe');
  });

  it('has no range of exact integers and covers none, whatever its source says', async () => {
    rows = Array.from({ length: 300 }, (_, i) => ({ tenant: i % 2 === 0 ? 'a' : 'b', no: String(i + 1) }));
    const { filter, orders } = await start({
      source: {
        ...source(),
        idOrder: 'integer',
        newest: async () => 300,
        idsSince: async function* () {
          yield [1, 2];
        },
      },
      replica: 'verified',
    });
    await filter.rebuild();
    const { layout, outside } = await filter.info();
    expect([layout, outside]).toEqual(['blocked', undefined]);
    const verdicts = await filter.checkMany(rows.map(({ tenant, no }) => scopedId(tenant, no)));
    expect(new Set(verdicts)).toEqual(new Set(['maybe']));
    // An id of this tenant after the last number of all, and one of before.
    await filter.add(scopedId('a', 1000));
    await orders.create({ tenant: 'a', no: '2' });
    expect(await filter.checkMany([scopedId('a', 1000), scopedId('a', 2), scopedId('b', 1)])).toEqual([
      'maybe',
      'maybe',
      'absent',
    ]);
  });

  it('is rebuilt before a filter of the same name answers whose ids had no scopes', async () => {
    const before = await start({ scoped: false, source: source(false) }, []);
    await before.filter.rebuild();
    expect(await before.filter.check('1')).toBe('maybe');
    await app!.close();
    const { filter } = await start({}, [Orders], before.keyPrefix);
    expect(await filter.check(scopedId('a', 1))).toBe('unknown');
    await filter.rebuild();
    expect(await filter.check(scopedId('a', 1))).toBe('maybe');
  });

  describe('stops the start', () => {
    @Injectable()
    class Plain {
      @BloomGuarded('orders')
      async find(_no: string): Promise<null> {
        return null;
      }
      @BloomGuardedMany('orders')
      async findMany(_nos: string[]): Promise<Order[]> {
        return [];
      }
      @BloomRegisters('orders')
      async create(_no: string): Promise<void> {}
    }

    abstract class Base {
      readonly filterName = 'orders';
    }

    @Injectable()
    class ByName extends Base {
      @BloomGuarded((self: Base) => self.filterName)
      async find(_no: string): Promise<null> {
        return null;
      }
    }

    it.each([
      [
        'over decorators without scope',
        {},
        [Plain, Orders],
        /@BloomGuarded\('orders'\) on Plain.find: expected the option scope[^]*Plain.findMany: [^]*Plain.create: /,
      ],
      [
        'over a guard of a name that its object gives',
        {},
        [ByName],
        /on ByName.find: expected the option scope/,
      ],
      [
        'over scope where ids have none',
        { scoped: false, source: source(false) },
        [Orders],
        /Filter 'orders': expected scoped: true with the option scope of @BloomGuarded\('orders'\) on Orders.find/,
      ],
      [
        'over a source with scope where ids have none',
        { scoped: false },
        [],
        /expected scoped: true with the option scope of its source/,
      ],
      ['over topUp', { topUp: {} }, [], /scoped to be false or left out with topUp and feed/],
      [
        'over a feed',
        { feed: { follow: async () => {} } },
        [],
        /scoped to be false or left out with topUp and feed/,
      ],
      ['over coverage', { coverage: 'ordered' }, [], /its ids have scopes/],
      ['over covered copies', { replica: 'covered' }, [], /its ids have scopes/],
    ] as [string, Partial<BloomFilterOptions>, (new () => unknown)[], RegExp][])(
      '%s',
      async (_, options, providers, text) => {
        const error = await start(options, providers).then(
          () => undefined,
          (reason: unknown) => reason as Error,
        );
        expect(error).toBeInstanceOf(BloomConfigError);
        expect(error?.message).toMatch(text);
      },
    );

    it('over a hook of a library, which knows no tenants', async () => {
      @Injectable()
      class Hook {
        constructor(@Inject(BloomGuardRunner) runner: BloomGuardRunner) {
          registrarOf(runner, 'orders');
        }
      }
      await expect(start({}, [Hook as new () => Hook])).rejects.toThrow(
        /names the filter 'orders', whose ids have scopes/,
      );
    });

    it('nowhere over objects of a request, whose calls pass and whose writes reject', async () => {
      @Injectable({ scope: Scope.REQUEST })
      class Requested extends Base {
        @BloomGuarded((self: Base) => self.filterName)
        async find(_no: string): Promise<string> {
          return 'found';
        }
        @BloomRegisters((self: Base) => self.filterName)
        async create(_no: string): Promise<void> {}
      }
      const { filter } = await start({}, [Orders, Requested]);
      await filter.rebuild();
      const requested = await app!.resolve(Requested, undefined, { strict: false });
      expect(await requested.find('none')).toBe('found');
      expect(events).toContainEqual(
        expect.objectContaining({ type: 'filter-missing', error: expect.any(BloomConfigError) }),
      );
      await expect(requested.create('none')).rejects.toThrow(/expected the option scope/);
    });
  });
});
