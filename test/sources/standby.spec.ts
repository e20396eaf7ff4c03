import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MikroORM } from '@mikro-orm/postgresql';
import { PrismaPg } from '@prisma/adapter-pg';
import { drizzle } from 'drizzle-orm/node-postgres';
import { pgTable, text } from 'drizzle-orm/pg-core';
import knex from 'knex';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { DataSource, EntitySchema } from 'typeorm';
import { fromDrizzle } from '@nestjs-bloom/drizzle';
import type { BloomIdSource, BloomSourceFactory } from '../../src/index.js';
import { fromKnex } from '@nestjs-bloom/knex';
import { fromKysely } from '@nestjs-bloom/kysely';
import { fromMikroOrm } from '@nestjs-bloom/mikro-orm';
import { postgresCopy } from '@nestjs-bloom/postgres';
import { fromPrisma } from '@nestjs-bloom/prisma';
import { fromTypeOrm } from '@nestjs-bloom/typeorm';
import { eventually } from '../support/eventually.js';
import { type PostgresServer, requirePostgres } from '../support/postgres-server.js';
import { madeBy, readAll } from '../support/read-source.js';
import { Gone } from '../../packages/mikro-orm/test/entities.js';
import { generatedClient } from '../../packages/prisma/test/generated-client.js';

interface Options {
  readonly fromReplica?: boolean;
  readonly order?: string;
}

/** A source of the column `gone.id` of that server, and what ends its connections. */
interface Opened {
  readonly make: (options: Options) => BloomSourceFactory;
  readonly close: () => Promise<unknown>;
}

const gone = pgTable('gone', { id: text().primaryKey() });
const GoneRow = new EntitySchema<{ id: string }>({
  name: 'Gone',
  tableName: 'gone',
  columns: { id: { type: 'text', primary: true } },
});
const poolOf = (connectionString: string) => {
  const pool = new pg.Pool({ connectionString });
  pool.on('error', () => {});
  return pool;
};

const SOURCES: Readonly<Record<string, (url: string) => Opened | Promise<Opened>>> = {
  fromKnex: (url) => {
    const database = knex({ client: 'pg', connection: url, pool: { min: 0 } });
    return { make: (options) => fromKnex(database, 'gone', 'id', options), close: () => database.destroy() };
  },
  fromKysely: (url) => {
    const database = new Kysely<{ gone: { id: string } }>({
      dialect: new PostgresDialect({ pool: poolOf(url) }),
    });
    return { make: (options) => fromKysely(database, 'gone.id', options), close: () => database.destroy() };
  },
  fromDrizzle: (url) => {
    const pool = poolOf(url);
    return { make: (options) => fromDrizzle(drizzle(pool), gone.id, options), close: () => pool.end() };
  },
  fromPrisma: async (url) => {
    const Client = await generatedClient();
    const prisma = new Client({ adapter: new PrismaPg({ connectionString: url }) });
    return {
      make: (options) => fromPrisma(prisma, (client) => client.gone, 'id', options),
      close: () => prisma.$disconnect(),
    };
  },
  fromMikroOrm: async (url) => {
    const orm = await MikroORM.init({ clientUrl: url, entities: [Gone] });
    return { make: (options) => fromMikroOrm(Gone, 'id', { orm, ...options }), close: () => orm.close() };
  },
  fromTypeOrm: async (url) => {
    const dataSource = await new DataSource({ type: 'postgres', url, entities: [GoneRow] }).initialize();
    return {
      make: (options) => fromTypeOrm(GoneRow, 'id', { dataSource, ...options }),
      close: () => dataSource.destroy(),
    };
  },
  postgresCopy: (url) => {
    const pool = poolOf(url);
    return {
      make: (options) => postgresCopy({ pool, table: 'gone', column: 'id', ...options }),
      close: () => pool.end(),
    };
  },
};

let primary: PostgresServer;
let standby: PostgresServer;
const opened: Opened[] = [];

beforeAll(async () => {
  primary = await requirePostgres();
  await primary.run(`create table gone (id text primary key); insert into gone values ('a'), ('b')`);
  standby = await requirePostgres({ standbyOf: primary });
});
afterAll(async () => {
  await Promise.all(opened.map(({ close }) => close()));
  await standby?.stop();
  await primary?.stop();
});

async function since(source: BloomIdSource): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const batch of source.idsSince!(undefined, { signal: new AbortController().signal }))
    found.push(batch);
  return found.flat();
}

describe.each(Object.entries(SOURCES))('A standby of Postgres and %s', (_, open) => {
  const IS_STANDBY = /"gone" was to be read from is a standby.*set the option fromReplica/;

  it('do not go together unless fromReplica is set', async () => {
    opened.push(await open(standby.url), await open(primary.url));
    const [there, here] = opened.slice(-2);
    const refused = await madeBy(there!.make({ order: 'id' }));
    await expect(readAll(refused)).rejects.toThrow(IS_STANDBY);
    await expect(since(refused)).rejects.toThrow(IS_STANDBY);
    await expect(refused.newest!()).rejects.toThrow(IS_STANDBY);

    const source = await madeBy(there!.make({ order: 'id', fromReplica: true }));
    await eventually('the rows are there', async () => (await readAll(source)).length === 2);
    expect(await since(source)).toEqual(['a', 'b']);
    expect(await source.newest!()).toBe('b');
    expect(await readAll(await madeBy(here!.make({})))).toEqual(['a', 'b']);
  });
});

describe('A server that is named as a replica', () => {
  it('may be a standby: replicationMode of fromTypeOrm', async () => {
    const dataSource = await new DataSource({
      type: 'postgres',
      replication: { master: { url: primary.url }, slaves: [{ url: standby.url }] },
      entities: [GoneRow],
    }).initialize();
    try {
      const of = (options: object) => madeBy(fromTypeOrm(GoneRow, 'id', { dataSource, ...options }));
      expect(await readAll(await of({ replicationMode: 'slave' }))).toEqual(['a', 'b']);
      expect(await since(await of({ replicationMode: 'slave', order: 'id' }))).toEqual(['a', 'b']);
      await expect(readAll(await of({ replicationMode: 'slave', fromReplica: false }))).rejects.toThrow(
        'is a standby',
      );
      expect(await readAll(await of({}))).toEqual(['a', 'b']);
    } finally {
      await dataSource.destroy();
    }
  });

  it('may be a standby: connection of fromMikroOrm', async () => {
    const orm = await MikroORM.init({
      clientUrl: primary.url,
      replicas: [{ clientUrl: standby.url }],
      entities: [Gone],
    });
    try {
      expect(await readAll(await madeBy(fromMikroOrm(Gone, 'id', { orm, connection: 'read' })))).toEqual([
        'a',
        'b',
      ]);
      await expect(
        readAll(await madeBy(fromMikroOrm(Gone, 'id', { orm, connection: 'read', fromReplica: false }))),
      ).rejects.toThrow('is a standby');
    } finally {
      await orm.close();
    }
  });
});
