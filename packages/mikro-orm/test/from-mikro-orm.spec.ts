import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MikroORM as CoreMikroORM, type Platform } from '@mikro-orm/core';
import { MikroORM, PostgreSqlPlatform } from '@mikro-orm/postgresql';
import {
  AbstractSqlPlatform,
  BaseMySqlPlatform,
  BasePostgreSqlPlatform,
  SqlitePlatform,
} from '@mikro-orm/sql';
import { Module } from '@nestjs/common';
import { BloomModule, BloomService } from 'nestjs-bloom';
import { fromMikroOrm, type MikroOrmSourceOptions } from '../src/index.js';
import { startContext } from '../../../test/support/nest-app.js';
import { madeBy, readAll } from '../../../test/support/read-source.js';
import { expectCounted, type ShopTables, startShopTables, texts } from '../../../test/support/shop-tables.js';
import { Colour, Order, Product, Unknown, Visit } from './entities.js';

let shop: ShopTables;
let orm: MikroORM;

beforeAll(async () => {
  shop = await startShopTables();
  orm = await MikroORM.init({ clientUrl: shop.server.url, entities: [Product, Order, Visit, Colour] });
});
afterAll(async () => {
  await orm?.close();
  await shop?.stop();
});

const of = (take = 7): MikroOrmSourceOptions => ({ orm, take });

class OtherPlatform extends AbstractSqlPlatform {}

describe('fromMikroOrm', () => {
  it.each([
    ['id', 'uuid'],
    ['sku', undefined],
    ['no', 'integer'],
    ['code', 'lowerCase'],
    ['shelf', 'padded'],
    ['price', undefined],
    ['digest', undefined],
  ] as const)(
    'reads every value of products.%s, past the filters of the entity',
    async (property, normalize) => {
      const source = await madeBy(fromMikroOrm(Product, property, of()));
      const expected = (await shop.values(property, 'products')).toSorted();
      expect(texts(await readAll(source))).toEqual(expected);
      expect(expected.length).toBeGreaterThan(60);
      expect(source.spelling?.name).toBe(normalize);
    },
  );

  it('takes the primary key where no property is named', async () => {
    const orders = await madeBy(fromMikroOrm(Order, of()));
    expect([orders.readsFrom, orders.idOrder]).toEqual(['orders.no', 'integer']);
    expect((await madeBy(fromMikroOrm(Product, of()))).idOrder).toEqual({
      reason: expect.stringContaining('products.id is of type uuid'),
    });
    await expect(madeBy(fromMikroOrm(Visit, of()))).rejects.toThrow('got at, no');
  });

  it('follows a composite primary key whose dates are finer than those of JavaScript', async () => {
    const source = await madeBy(fromMikroOrm(Visit, 'visitor', of(1)));
    expect(source.readsFrom).toBe('visits.visitor_key');
    expect(texts(await readAll(source))).toEqual(
      (await shop.values('visitor_key', 'shop.visits')).toSorted(),
    );
  });

  it('gives what a type of the application makes of the stored value', async () => {
    const source = await madeBy(fromMikroOrm(Product, 'label', of()));
    expect(texts(await readAll(source))).toEqual((await shop.values("'X-' || label", 'products')).toSorted());
    expect(source.spelling).toEqual({ column: 'public.products.label has a type of the application' });
  });

  it('reads a view, whose values of what is declared as its key repeat', async () => {
    const read = await readAll(await madeBy(fromMikroOrm(Colour, 'colour', of(1))));
    expect(read).toEqual(['red', 'green']);
  });

  it('counts a small table, and asks the planner about a large one', async () => {
    await expectCounted(shop, await madeBy(fromMikroOrm(Product, 'sku', of())));
  });

  it('names the columns there are, and the entity that is unknown', async () => {
    await expect(madeBy(fromMikroOrm(Product, 'skuu' as 'sku', of()))).rejects.toThrow(
      "expected a column of the entity Product, got 'skuu'. Its columns are id, sku, no, code",
    );
    await expect(madeBy(fromMikroOrm(Unknown, 'id', of()))).rejects.toThrow(
      'the entity Unknown cannot be read: its MikroORM does not know it',
    );
  });

  it('knows its platform without the names of its classes, which a bundle shortens', async () => {
    const classes = [BasePostgreSqlPlatform, BaseMySqlPlatform, SqlitePlatform, PostgreSqlPlatform];
    const names = classes.map(({ name }) => name);
    const rename = (to: readonly string[]) =>
      classes.forEach((one, i) => Object.defineProperty(one, 'name', { value: to[i], configurable: true }));
    /** The same entities, of another platform, whose server knows no collation. */
    const on = (platform: Platform) =>
      new Proxy(orm, {
        get: (target, name) => {
          if (name === 'driver')
            return { getPlatform: () => platform, getConnection: () => ({ execute: async () => [] }) };
          const value: unknown = Reflect.get(target, name);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    const spelling = async (platform: Platform) =>
      (await madeBy(fromMikroOrm(Product, 'sku', { orm: on(platform) }))).spelling?.name;
    try {
      rename(['a', 'b', 'c', 'd']);
      const source = await madeBy(fromMikroOrm(Product, 'code', of()));
      expect(source.spelling?.name).toBe('lowerCase');
      expect(texts(await readAll(source))).toEqual((await shop.values('code', 'products')).toSorted());
      expect(await spelling(new BaseMySqlPlatform())).toBe('lowerCase');
      expect(await spelling(new SqlitePlatform())).toBeUndefined();
      await expect(spelling(new OtherPlatform())).rejects.toThrow(/OtherPlatform/);
    } finally {
      rename(names);
    }
  });

  it('is given the MikroORM of an application by its class', async () => {
    @Module({ providers: [{ provide: CoreMikroORM, useValue: orm }] })
    class ShopModule {}
    const context = await startContext({
      imports: [
        BloomModule.forRoot({
          onEvent: () => {},
          filters: [
            {
              name: 'products',
              capacity: 1000,
              source: fromMikroOrm(Product, 'id'),
              rebuild: { drainMs: 0, onBoot: 'never' },
            },
          ],
        }),
        ShopModule,
      ],
    });
    const filter = context.get(BloomService).filter('products');
    expect(await filter.rebuild()).toMatchObject({ outcome: 'published', ids: 100 });
    const [id] = await shop.values('id', 'products');
    expect(await filter.check(`{${id!.toUpperCase()}}`)).toBe('maybe');
    await context.close();
  });

  it('takes no property that cannot be an id', () => {
    // @ts-expect-error there is no such property
    expect(fromMikroOrm(Product, 'skuu')).toBeDefined();
    // @ts-expect-error a Date is no id
    expect(fromMikroOrm(Product, 'madeAt')).toBeDefined();
  });
});
