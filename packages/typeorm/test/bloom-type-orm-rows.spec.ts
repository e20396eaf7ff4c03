import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable, Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import {
  ChildEntity,
  Column,
  DataSource,
  DeleteDateColumn,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  TableInheritance,
  ViewColumn,
  ViewEntity,
} from 'typeorm';
import { BloomConfigError } from 'nestjs-bloom';
import { type PostgresServer, requirePostgres } from '../../../test/support/postgres-server.js';
import { type Recorded, startSubscribed, type Subscribed } from './subscribed.js';

class Naming {
  @Column({ type: 'text', nullable: true })
  slug!: string | null;
}

@Entity('goods')
class Good {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'text', nullable: true, unique: true })
  sku!: string | null;

  @Column({ type: 'text', nullable: true })
  name!: string | null;

  @Column({ type: 'text', generatedType: 'STORED', asExpression: 'lower(name)', nullable: true })
  folded!: string | null;

  /** The table has a default that the entity does not name. */
  @Column({ type: 'text', nullable: true })
  code!: string | null;

  @Column({
    type: 'text',
    nullable: true,
    transformer: { to: (text: string | null) => text && text.trim(), from: (text: string | null) => text },
  })
  trimmed!: string | null;

  @Column({
    type: 'text',
    nullable: true,
    transformer: { to: (text: string | null) => text?.slice(2) ?? text, from: (text) => text && `X-${text}` },
  })
  label!: string | null;

  @Column(() => Naming)
  naming!: Naming;

  @DeleteDateColumn()
  deletedAt!: Date | null;
}

/** The same table, as an importer sees it. */
@Entity('goods', { synchronize: false })
class ImportedGood {
  @PrimaryGeneratedColumn({ name: 'id' })
  no!: number;

  @Column({ type: 'text', name: 'sku' })
  number!: string;
}

@ViewEntity('good_names', { expression: 'select name from goods' })
class GoodName {
  @ViewColumn()
  name!: string;
}

@Entity('media')
@TableInheritance({ column: { type: 'varchar', name: 'kind' } })
class Medium {
  @PrimaryColumn({ type: 'text' })
  id!: string;
}

@ChildEntity()
class Film extends Medium {}

@ChildEntity()
class Song extends Medium {}

@Entity('owners')
class Owner {
  @PrimaryColumn({ type: 'text' })
  id!: string;

  @OneToMany(() => Pet, (pet) => pet.owner)
  pets!: Pet[];

  @ManyToMany(() => Good)
  @JoinTable({ name: 'owner_goods' })
  goods!: Good[];
}

@Entity('pets')
class Pet {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'text', nullable: true })
  name!: string | null;

  @Column({ type: 'text', nullable: true })
  ownerId!: string | null;

  @ManyToOne(() => Owner, (owner) => owner.pets)
  @JoinColumn({ name: 'ownerId' })
  owner!: Owner | null;
}

/** The table by which `Owner` joins `Good`. */
@Entity('owner_goods', { synchronize: false })
class OwnerGood {
  @PrimaryColumn({ type: 'text' })
  ownersId!: string;

  @PrimaryColumn()
  goodsId!: number;
}

let server: PostgresServer;
let dataSource: DataSource;
let subscribed: Subscribed | undefined;

beforeAll(async () => {
  server = await requirePostgres();
  dataSource = await new DataSource({
    type: 'postgres',
    url: server.url,
    entities: [Good, ImportedGood, GoodName, Medium, Film, Song, Owner, Pet, OwnerGood],
    synchronize: true,
  }).initialize();
  await server.run(`alter table goods alter code set default 'made-' || nextval('goods_id_seq')`);
});
afterEach(async () => {
  await subscribed?.context.close();
  subscribed = undefined;
  await server.run('truncate goods, media, owners, pets, owner_goods cascade');
});
afterAll(async () => {
  await dataSource?.destroy();
  await server?.stop();
});

async function start(...recorded: Recorded[]): Promise<Subscribed> {
  return (subscribed = await startSubscribed(dataSource, recorded));
}

const goods = () => dataSource.getRepository(Good);
const values = async (expression: string, table: string) =>
  (
    await dataSource.query<{ value: unknown }[]>(
      `select ${expression} as value from ${table} where ${expression} is not null`,
    )
  ).map(({ value }) => value);

describe('A row that TypeORM writes', () => {
  it('is recorded by whatever entity of its table', async () => {
    const { absent } = await start(['skus', Good, 'sku'], ['codes', Good, 'code']);
    const imported = dataSource.getRepository(ImportedGood);
    const { no } = await imported.save({ number: 'saved' });
    await imported.insert([{ number: 'one' }, { number: 'two' }]);
    await imported.update({ no }, { number: 'renamed' });
    expect(await absent('skus', ['saved', 'one', 'two', 'renamed'])).toEqual([]);
    expect(await values('code', 'goods')).toHaveLength(3);
    expect(await absent('codes', await values('code', 'goods'))).toEqual([]);
  });

  it('is recorded with a default of the database that its entity does not name', async () => {
    const { absent } = await start(['codes', Good, 'code']);
    await goods().save([{ sku: 'a' }, { sku: 'b' }]);
    await goods().insert([{ sku: 'c' }, { sku: 'd', code: 'given' }, { sku: 'e', code: null }]);
    await goods().upsert([{ sku: 'f' }], ['sku']);
    const made = await values('code', 'goods');
    expect(made).toHaveLength(5);
    expect(await absent('codes', made)).toEqual([]);
  });

  it('is recorded as the entity has it, as the application reads it and as it is stored', async () => {
    const { absent } = await start(['trimmed', Good, 'trimmed'], ['labels', Good, 'label']);
    const { id } = await goods().save({ trimmed: ' one ', label: 'X-1' });
    await goods().update({ id }, { trimmed: ' two', label: 'X-2' });
    expect(await absent('trimmed', [' one ', 'one', ' two', 'two'])).toEqual([]);
    expect(await absent('labels', ['X-1', '1', 'X-2', '2'])).toEqual([]);
  });

  it('is recorded with a column that the database computes, or refused where that is not known', async () => {
    const { absent } = await start(['folded', Good, 'folded']);
    const saved = await goods().save({ name: 'ONE' });
    await goods().insert([{ name: 'TWO' }, { name: 'THREE' }]);
    await goods().save({ id: saved.id, name: 'UNO' });
    await goods().save({ id: saved.id, name: 'DUE' }, { reload: false });
    expect(await absent('folded', ['one', 'two', 'three', 'uno', 'due'])).toEqual([]);
    await expect(goods().update({ id: saved.id }, { name: 'TRE' })).rejects.toThrow(
      /Good\.folded is not known, since the database computes it/,
    );
    await goods().update({ id: saved.id }, { sku: 'other' });
    expect(await values('folded', 'goods')).not.toContain('tre');
  });

  it('is recorded with a column of an embedded entity', async () => {
    const { absent } = await start(['slugs', Good, 'naming.slug']);
    const { id } = await goods().save({ naming: { slug: 'saved' } });
    await goods().insert([{ naming: { slug: 'one' } }, {}]);
    await goods().update({ id }, { naming: { slug: 'renamed' } });
    await dataSource
      .createQueryBuilder()
      .update(Good)
      .set({ naming: { slug: 'built' } })
      .execute();
    expect(await absent('slugs', ['saved', 'one', 'renamed', 'built'])).toEqual([]);
  });

  it('is recorded in the filters of its class, of those above and of no other', async () => {
    const { absent } = await start(['media', Medium, 'id'], ['films', Film, 'id']);
    await dataSource.getRepository(Film).insert({ id: 'film' });
    await dataSource.getRepository(Song).save({ id: 'song' });
    await dataSource.getRepository(Medium).save({ id: 'medium' });
    await dataSource.getRepository(Medium).update({ id: 'film' }, { id: 'movie' });
    expect(await absent('media', ['film', 'song', 'medium', 'movie'])).toEqual([]);
    expect(await absent('films', ['film', 'movie', 'song'])).toEqual(['song']);
  });

  it('is recorded with a foreign key that a relation sets, or refused where that is not known', async () => {
    const { absent } = await start(['pet-owners', Pet, 'ownerId']);
    const owners = dataSource.getRepository(Owner);
    const pets = dataSource.getRepository(Pet);
    const [ann, bob, eve] = await owners.save([{ id: 'ann' }, { id: 'bob' }, { id: 'eve' }]);
    const pet = await pets.save({ name: 'Tom', owner: ann! });
    await pets.save({ ...pet, name: 'Tim', owner: bob! });
    await dataSource.createQueryBuilder().relation(Pet, 'owner').of(pet).set(eve);
    expect(await absent('pet-owners', ['ann', 'bob', 'eve'])).toEqual([]);
    await owners.save({ id: 'leo' });
    await expect(owners.save({ id: 'leo', pets: [pet] })).rejects.toThrow(/the other side of its relation/);
    expect(await values('"ownerId"', 'pets')).toEqual(['eve']);
  });

  it('is refused in a table that joins two others, where its ids are not known', async () => {
    await start(['good-owners', OwnerGood, 'ownersId']);
    const good = await goods().save({ sku: 'ball' });
    const owners = dataSource.getRepository(Owner);
    await expect(owners.save({ id: 'ann', goods: [good] })).rejects.toThrow(/a table that joins two others/);
    expect(await values('"ownersId"', 'owner_goods')).toEqual([]);
  });

  it('stays recorded when it is deleted softly, recovered and saved without the column', async () => {
    const { absent } = await start(['skus', Good, 'sku']);
    const good = await goods().save({ sku: 'one' });
    await goods().softRemove(good);
    await goods().recover(good);
    await goods().softDelete({ id: good.id });
    await goods().restore({ id: good.id });
    await goods().save({ id: good.id, name: 'named' });
    expect(await absent('skus', ['one'])).toEqual([]);
  });

  it('is recorded anew when another subscriber has changed it, and an advice names the entity', async () => {
    const { absent, events } = await start(['skus', Good, 'sku']);
    const signs = {
      beforeInsert: async ({ entity }: { entity: Good }) => {
        // Later than what records the rows.
        await new Promise(setImmediate);
        entity.sku = `${entity.sku}-signed`;
      },
      listenTo: () => Good,
    };
    dataSource.subscribers.push(signs as never);
    await goods().insert([{ sku: 'one' }, { sku: 'two' }]);
    dataSource.subscribers.splice(dataSource.subscribers.indexOf(signs as never), 1);
    expect(await absent('skus', ['one-signed', 'two-signed'])).toEqual([]);
    const advice = events.flatMap((event) => (event.type === 'advice' ? [event.text] : []));
    expect(advice).toEqual([expect.stringMatching(/The entity Good wrote a row whose id.*is another one/)]);
  });
});

describe('BloomTypeOrmSubscriber', () => {
  @Injectable()
  class Seeds implements OnModuleInit, OnApplicationShutdown {
    async onModuleInit() {
      await goods().save({ sku: 'seed' });
    }

    async onApplicationShutdown() {
      await goods().save({ sku: 'last' });
      atTheEnd = await subscribed!.absent('skus', ['seed', 'last']);
    }
  }

  @Module({ providers: [Seeds] })
  class SeedModule {}

  let atTheEnd: unknown[] | undefined;

  it('records rows of the first hooks of modules that are imported, and of their last ones', async () => {
    subscribed = await startSubscribed(dataSource, [['skus', Good, 'sku']], [SeedModule]);
    expect(await subscribed.absent('skus', ['seed'])).toEqual([]);
    await subscribed.context.close();
    expect(atTheEnd).toEqual([]);
  });

  it('records rows of a DataSource that was destroyed and initialised again', async () => {
    const { absent, context } = await start(['skus', Good, 'sku'], ['ids', Good, 'id']);
    await dataSource.destroy();
    await dataSource.initialize();
    const { id } = await goods().save({ sku: 'saved' });
    await goods().update({ id }, { sku: 'renamed' });
    expect(await absent('skus', ['saved', 'renamed'])).toEqual([]);
    expect(await absent('ids', [id])).toEqual([]);
    await context.close();
    subscribed = undefined;
    await goods().save({ sku: 'after' });
    await dataSource.destroy();
    await dataSource.initialize();
    expect(dataSource.subscribers).toHaveLength(0);
  });

  it('refuses a view, through which no row is written', async () => {
    const { length } = dataSource.subscribers;
    await expect(start(['names', GoodName, 'name'])).rejects.toThrow(BloomConfigError);
    expect(dataSource.subscribers).toHaveLength(length);
  });
});
