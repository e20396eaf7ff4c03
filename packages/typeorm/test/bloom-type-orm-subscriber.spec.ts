import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { Column, DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { BloomModule, BloomService } from 'nestjs-bloom';
import { BloomTypeOrmSubscriber, fromTypeOrm } from '../src/index.js';
import { startContext } from '../../../test/support/nest-app.js';
import { type PostgresServer, requirePostgres } from '../../../test/support/postgres-server.js';

@Entity('items')
class Item {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column({ type: 'text', nullable: true, unique: true })
  sku!: string | null;
}

let server: PostgresServer;
let dataSource: DataSource;
let context: INestApplicationContext | undefined;

beforeAll(async () => {
  server = await requirePostgres();
  dataSource = await new DataSource({
    type: 'postgres',
    url: server.url,
    entities: [Item],
    synchronize: true,
  }).initialize();
});
afterEach(async () => {
  await context?.close();
  context = undefined;
  await server.run('delete from items');
});
afterAll(async () => {
  await dataSource?.destroy();
  await server?.stop();
});

/** Filters `skus` and `ids`, which hold no row yet, and what fills them. */
async function start() {
  const filter = (name: string, column: 'id' | 'sku') => ({
    name,
    capacity: 1000,
    errorRate: 1e-6,
    source: fromTypeOrm(Item, column, { dataSource }),
    rebuild: { drainMs: 0, onBoot: 'never' as const },
  });
  context = await startContext({
    imports: [
      BloomModule.forRoot({ onEvent: () => {}, filters: [filter('skus', 'sku'), filter('ids', 'id')] }),
    ],
    providers: [
      BloomTypeOrmSubscriber.provide(Item, 'sku', { dataSource, filter: 'skus' }),
      BloomTypeOrmSubscriber.provide(Item, 'id', { dataSource, filter: 'ids' }),
    ],
  });
  const service = context.get(BloomService);
  for (const name of ['skus', 'ids']) await service.filter(name).rebuild({ force: true });
  return { skus: service.filter('skus'), ids: service.filter('ids') };
}

const items = () => dataSource.getRepository(Item);

describe('BloomTypeOrmSubscriber', () => {
  it('records what is saved, inserted, upserted and updated, also ids that the database makes', async () => {
    const { skus, ids } = await start();
    expect(await skus.check('saved')).toBe('absent');
    const saved = await items().save({ sku: 'saved' });
    await items().insert([{ sku: 'one' }, { sku: 'two' }, { sku: null }]);
    await items().upsert([{ sku: 'up' }], ['sku']);
    await dataSource.createQueryBuilder().insert().into(Item).values({ sku: 'built' }).execute();
    await items().save({ id: saved.id, sku: 'renamed' });
    await items().update({ sku: 'one' }, { sku: 'uno' });
    for (const sku of ['saved', 'one', 'two', 'up', 'built', 'renamed', 'uno'])
      expect([sku, await skus.check(sku)]).toEqual([sku, 'maybe']);
    for (const { id } of await items().find()) expect(await ids.check(id)).toBe('maybe');
    expect(await items().count()).toBe(6);
    expect(await skus.check('other')).toBe('absent');
  });

  it('has added an id before its row can be seen', async () => {
    const { skus, ids } = await start();
    await dataSource.transaction(async (manager) => {
      const { id } = await manager.save(Item, { sku: 'early' });
      expect(await items().countBy({ sku: 'early' })).toBe(0);
      expect([await skus.check('early'), await ids.check(id)]).toEqual(['maybe', 'maybe']);
    });
    expect(await items().countBy({ sku: 'early' })).toBe(1);
  });

  it('adds an id again after the commit, when a rebuild has read the table before', async () => {
    const { skus, ids } = await start();
    let id = '';
    await dataSource.transaction(async (manager) => {
      id = (await manager.save(Item, { sku: 'late' })).id;
      // Its drain is 0: it sees neither the row nor the add.
      for (const filter of [skus, ids]) await filter.rebuild({ force: true });
      expect(await skus.check('late')).toBe('absent');
      await manager.transaction((inner) => inner.save(Item, { sku: 'inner' }));
      expect(await skus.check('late')).toBe('absent');
    });
    for (const sku of ['late', 'inner']) expect(await skus.check(sku)).toBe('maybe');
    expect(await ids.check(id)).toBe('maybe');
  });

  it('records what another subscriber sets after it', async () => {
    const { skus } = await start();
    const { id } = await items().save({ sku: 'first' });
    const signs = {
      beforeInsert: ({ entity }: { entity: Item }) => void (entity.sku = `${entity.sku}-signed`),
      beforeUpdate: ({ entity }: { entity: Item }) => void (entity.sku = `${entity.sku}-changed`),
      listenTo: () => Item,
    };
    dataSource.subscribers.push(signs as never);
    await items().save({ sku: 'new' });
    await items().save({ id, sku: 'second' });
    await items().update({ id }, { sku: 'third' });
    dataSource.subscribers.splice(dataSource.subscribers.indexOf(signs as never), 1);
    const rows = await items().find();
    expect(rows.map(({ sku }) => sku).toSorted()).toEqual(['new-signed', 'third-changed']);
    for (const sku of ['new-signed', 'second-changed', 'third-changed'])
      expect([sku, await skus.check(sku)]).toEqual([sku, 'maybe']);
  });

  it('writes nothing that cannot be recorded', async () => {
    const { skus } = await start();
    await expect(items().save({ sku: '' })).rejects.toThrow(/id/);
    await expect(items().insert([{ sku: 'good' }, { sku: 'x'.repeat(2000) }])).rejects.toThrow(/1024/);
    const raw = items()
      .createQueryBuilder()
      .insert()
      .values({ sku: () => `'ra' || 'w'` });
    await expect(raw.execute()).rejects.toThrow(/Item\.sku is not known, since it is an SQL expression/);
    const unread = items().createQueryBuilder().insert().values({ sku: 'good' }).updateEntity(false);
    await expect(unread.useTransaction(true).execute()).rejects.toThrow(
      /Item\.id is not known, since what the database made/,
    );
    expect(await items().count()).toBe(0);
    expect(await skus.check('raw')).toBe('absent');
  });

  it('does not see plain SQL, nor what is written without listeners', async () => {
    const { skus } = await start();
    await dataSource.query(`insert into items (sku) values ('plain')`);
    await items().save({ sku: 'deaf' }, { listeners: false });
    for (const sku of ['plain', 'deaf']) expect(await skus.check(sku)).toBe('absent');
  });

  it('stops the start for a filter or a column that is not there, and leaves the DataSource when the application ends', async () => {
    const before = dataSource.subscribers.length;
    await start();
    expect(dataSource.subscribers).toHaveLength(before + 2);
    await context?.close();
    context = undefined;
    // They leave when they hear of a row, which has no filter any more.
    await items().save({ sku: 'after' });
    expect(dataSource.subscribers).toHaveLength(0);
    const withProvider = (column: 'sku', filter: string) =>
      startContext({
        imports: [BloomModule.forRoot({ filters: [{ name: 'skus', capacity: 10 }] })],
        providers: [BloomTypeOrmSubscriber.provide(Item, column, { dataSource, filter })],
      });
    await expect(withProvider('sku', 'skuus')).rejects.toThrow(/'skuus'/);
    await expect(withProvider('skuu' as 'sku', 'skus')).rejects.toThrow(
      /got 'skuu'\. Its columns are id, sku/,
    );
    expect(dataSource.subscribers).toHaveLength(0);
  });

  it('takes no property that cannot be an id', () => {
    // @ts-expect-error there is no such property
    expect(BloomTypeOrmSubscriber.provide(Item, 'skuu', { filter: 'skus' })).toBeDefined();
    expect(BloomTypeOrmSubscriber.provide(Item, 'sku', { filter: 'skus' }).inject).toContain(DataSource);
  });
});
