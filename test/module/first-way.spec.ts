import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable, Module, type ModuleMetadata, type OnApplicationShutdown } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import { Column, DataSource, type DataSourceOptions, Entity, PrimaryGeneratedColumn } from 'typeorm';
import {
  type BloomEvent,
  BloomGuarded,
  type BloomFeature,
  BloomModule,
  BloomRegisters,
  BloomService,
  BloomUnavailableError,
} from 'nestjs-bloom';
import { fromTypeOrm } from '@nestjs-bloom/typeorm';
import { eventually } from '../support/eventually.js';
import { startContext } from '../support/nest-app.js';
import { type PostgresServer, requirePostgres } from '../support/postgres-server.js';

@Entity('orders')
class Order {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'text', default: '' })
  note!: string;
}

@Entity('codes')
class Code {
  @PrimaryGeneratedColumn('uuid')
  id!: string;
}

let queries = 0;

@Injectable()
class Orders {
  constructor(private readonly dataSource: DataSource) {}

  @BloomGuarded('orders')
  findOne(id: number): Promise<Order | null> {
    queries++;
    return this.dataSource.getRepository(Order).findOneBy({ id });
  }
}

@Injectable()
class Codes {
  @BloomRegisters('codes', { id: 'id' })
  async create(code: { readonly id: string }): Promise<void> {
    void code;
  }
}

describe('A filter over a table whose ids the database makes in order, and two lines', () => {
  let server: PostgresServer;
  let app: TestingModule | undefined;
  const events: BloomEvent[] = [];
  beforeAll(async () => {
    server = await requirePostgres();
    await server.run(`create table orders (id serial primary key, note text not null default '');
      create table codes (id uuid primary key default gen_random_uuid());
      insert into orders select from generate_series(1, 500); delete from orders where id % 10 = 0; insert into codes select from generate_series(1, 5)`);
  });
  afterEach(async () => {
    await app?.close();
    app = undefined;
    events.length = 0;
  });
  afterAll(() => server?.stop());

  async function start(feature: BloomFeature, metadata: ModuleMetadata = {}): Promise<void> {
    const options: DataSourceOptions = { type: 'postgres', url: server.url, entities: [Order, Code] };
    const useFactory = () => new DataSource(options).initialize();
    @Module({ providers: [{ provide: DataSource, useFactory }], exports: [DataSource] })
    class DatabaseModule implements OnApplicationShutdown {
      constructor(private readonly dataSource: DataSource) {}

      onApplicationShutdown(): Promise<void> {
        return this.dataSource.destroy();
      }
    }
    app = await startContext({
      ...metadata,
      imports: [
        DatabaseModule,
        BloomModule.forRoot({ onEvent: (event) => events.push(event) }),
        BloomModule.forFeature(feature),
      ],
    });
  }

  const filterOf = (name: string) => app!.get(BloomService).filter(name);
  const advice = () => events.flatMap((event) => (event.type === 'advice' ? [event.text] : []));

  it('serves a row that psql has inserted, and answers absent ids without a query', async () => {
    await start(
      { name: 'orders', source: fromTypeOrm(Order), rebuild: { drainMs: 100 }, audit: false },
      { providers: [Orders] },
    );
    const orders = app!.get(Orders);
    const filter = filterOf('orders');
    await eventually('it is covered', async () => (await filter.info()).outside?.mark !== undefined);
    await server.run(`insert into orders (note) values ('from psql')`);
    expect(await orders.findOne(501)).toEqual({ id: 501, note: 'from psql' });
    await eventually('the row is read', async () => (await filter.check(501)) === 'maybe');
    queries = 0;
    const absent = Array.from({ length: 30 }, (_, i) => 10 * (i + 1));
    for (const id of absent) expect(await orders.findOne(id)).toBeNull();
    // The largest gaps between rows are not covered until two rebuilds have found them empty.
    expect(queries).toBeLessThanOrEqual(8);
    expect(await filter.check(1_300)).toBe('unknown');
    await eventually('a far one is absent', async () => (await filter.check(1_000_000)) === 'absent');
    expect((await filter.info()).capacity).toBe(100_000);
    expect(advice()).toEqual([]);
    expect(events.filter(({ type }) => /failed|ignored|error/.test(type))).toEqual([]);
  });

  it('is built of an empty table, whose first row is served', async () => {
    await server.run('create table kept as table orders; truncate orders');
    try {
      await start(
        { name: 'orders', source: fromTypeOrm(Order), rebuild: { drainMs: 0 } },
        { providers: [Orders] },
      );
      await eventually('it is built', async () => (await filterOf('orders').info()).state === 'ready');
      expect(events.filter(({ type }) => type === 'rebuild-failed')).toEqual([]);
      await server.run(`insert into orders (id, note) values (1, 'the first')`);
      expect(await app!.get(Orders).findOne(1)).toEqual({ id: 1, note: 'the first' });
    } finally {
      await server.run('truncate orders; insert into orders table kept; drop table kept');
    }
  });

  it('is planned by the count of its table', async () => {
    await server.run('insert into orders select from generate_series(1, 120000)');
    await start({ name: 'orders', source: fromTypeOrm(Order), rebuild: { drainMs: 0 } });
    const filter = filterOf('orders');
    await eventually('it is ready', async () => (await filter.info()).state === 'ready');
    const { capacity, count } = await filter.info();
    expect(count).toBeGreaterThan(120_000);
    expect(capacity).toBeGreaterThan(count);
    expect(events.map(({ type }) => type)).not.toContain('rebuild-replanned');
  });

  it('says once what a table needs whose ids are in no order, unless somebody adds them', async () => {
    const feature: BloomFeature = { name: 'codes', source: fromTypeOrm(Code), rebuild: { drainMs: 1000 } };
    await start(feature);
    await eventually('the advice', () => advice().length > 0);
    expect(advice()).toEqual([
      expect.stringMatching(
        /^BLOOM_NEW_ROWS_ABSENT: new rows are answered "absent" .* codes\.id is of type uuid.*@BloomRegisters/,
      ),
    ]);
    expect((await filterOf('codes').info()).outside).toBeUndefined();
    const silent: [BloomFeature, ModuleMetadata][] = [
      [feature, { providers: [Codes] }],
      [{ ...feature, coverage: 'none' }, {}],
    ];
    for (const [one, metadata] of silent) {
      await app!.close();
      events.length = 0;
      await start(one, metadata);
      await eventually('it is ready', async () => (await filterOf('codes').info()).state === 'ready');
      expect(advice()).toEqual([]);
    }
  });

  it('is refused where the definition asks for coverage that there cannot be', async () => {
    const refused = start({ name: 'codes', source: fromTypeOrm(Code), coverage: 'ordered' });
    await expect(refused).rejects.toThrow(
      /Filter 'codes': expected coverage to be left out, since codes\.id is of type uuid/,
    );
  });

  it('needs a capacity where there is no source', async () => {
    await expect(start({ name: 'seen' })).rejects.toThrow(/capacity/);
  });

  it('is not covered before its source is made: nothing is answered "absent" until then', async () => {
    const source = fromTypeOrm(Order, { dataSource: DataSource });
    await start({ name: 'orders', source, normalize: 'integer', rebuild: { onBoot: 'never' } });
    expect(await filterOf('orders').check(1)).toBe('unknown');
  });

  it('takes no id before its source is made: another process may deny it', async () => {
    let added: Promise<unknown> | undefined;
    @Injectable()
    class Importer {
      constructor(bloom: BloomService) {
        setImmediate(
          () =>
            (added = bloom
              .filter('orders')
              .add(1)
              .catch((error: unknown) => error)),
        );
      }
    }
    await start(
      { name: 'orders', source: fromTypeOrm(Order), rebuild: { drainMs: 0 } },
      { providers: [Importer] },
    );
    expect(await added).toBeInstanceOf(BloomUnavailableError);
  });
});
