import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Column, DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { type MariaDbServer, requireMariaDb } from '../../../test/support/mariadb-server.js';
import { startSubscribed, type Subscribed } from './subscribed.js';

@Entity('goods')
class Good {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'varchar', length: 50, unique: true })
  sku!: string;

  @Column({ type: 'varchar', length: 50, nullable: true })
  code!: string | null;

  @Column({ type: 'varchar', length: 50, default: () => 'uuid()' })
  token!: string;
}

let server: MariaDbServer;
let dataSource: DataSource;
let subscribed: Subscribed;

/** What the table has of a column, and the filter does not hold. */
async function missing(column: 'id' | 'code' | 'token'): Promise<unknown[]> {
  const rows = await dataSource.query<{ value: unknown }[]>(
    `select ${column} as value from goods where ${column} is not null`,
  );
  expect(rows.length).toBeGreaterThan(0);
  return subscribed.absent(
    column,
    rows.map(({ value }) => value),
  );
}

// With the type mysql the driver counts the keys of a statement, with mariadb the server returns them.
describe.each([
  ['mysql', 1],
  ['mysql', 3],
  ['mariadb', 3],
] as const)('A statement of several rows on %s, whose keys differ by %p,', (type, step) => {
  beforeAll(async () => {
    server = await requireMariaDb({ settings: [`auto-increment-increment=${step}`] });
    dataSource = await new DataSource({
      type,
      url: server.url,
      entities: [Good],
      synchronize: true,
    }).initialize();
    await dataSource.query(`alter table goods alter code set default (concat('code-', uuid()))`);
    subscribed = await startSubscribed(dataSource, [
      ['id', Good, 'id'],
      ['code', Good, 'code'],
      ['token', Good, 'token'],
    ]);
  });
  afterEach(() => dataSource.query('truncate goods'));
  afterAll(async () => {
    await subscribed?.context.close();
    await dataSource?.destroy();
    await server?.stop();
  });

  const goods = () => dataSource.getRepository(Good);
  const skus = (...names: string[]) => names.map((sku) => ({ sku }));
  const nothingIsMissing = async () => {
    for (const column of ['id', 'code', 'token'] as const)
      expect([column, await missing(column)]).toEqual([column, []]);
  };

  it('has all of its ids recorded: insert', async () => {
    await goods().insert(skus('a', 'b', 'c'));
    await goods().insert([{ sku: 'd', code: 'given' }, { sku: 'e' }, { sku: 'f', code: null }]);
    await goods().insert({ sku: 'g' });
    await nothingIsMissing();
  });

  it('has all of its ids recorded: upsert and orIgnore, also of rows that were there', async () => {
    await goods().insert(skus('a', 'c'));
    await goods().upsert(skus('a', 'b', 'c', 'd', 'e'), ['sku']);
    await goods()
      .createQueryBuilder()
      .insert()
      .values(skus('a', 'x', 'b', 'y'))
      .orIgnore()
      .execute();
    await nothingIsMissing();
  });

  it('has all of its ids recorded: save', async () => {
    const [first] = await goods().save(skus('a', 'b', 'c').map((one) => goods().create(one)));
    await goods().save([{ id: first!.id, sku: 'renamed' }, { sku: 'd' }]);
    await goods().save({ sku: 'e' });
    await nothingIsMissing();
  });

  it('is refused where some keys are given, and the others are not known', async () => {
    const mixed = goods().insert([{ id: 1000, sku: 'a' }, { sku: 'b' }, { sku: 'c' }]);
    if (type === 'mariadb') await mixed;
    else await expect(mixed).rejects.toThrow(/Good\.\w+ is not known, since a statement of several rows/);
    if (type === 'mariadb') await nothingIsMissing();
  });
});
