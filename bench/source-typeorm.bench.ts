import pg from 'pg';
import { DataSource, EntitySchema } from 'typeorm';
import type { BloomIdSource } from '../src/rebuild/index.js';
import { fromTypeOrm } from '../src/sources/typeorm/index.js';
import { assert, type Bench, Comparison, rate } from './harness.js';
import { startPostgres } from './postgres-server.js';
import { readByHand, readSource } from './source-reading.js';

const BY_HAND = 'paging by hand';

const Product = new EntitySchema<{ sku: string; name: string }>({
  name: 'products',
  columns: { sku: { type: 'text', primary: true }, name: { type: 'text' } },
});

/** A table read by a ready-made source, against the same pages of raw rows written by hand. */
export const bench: Bench = async (context) => {
  const { report, pick, skip, cleanUp } = context;
  const count = pick(520_001, 5_201);
  const url = await startPostgres(context);
  if (!url) return skip('source-typeorm', 'no Postgres is installed');
  const dataSource = await new DataSource({
    type: 'postgres',
    url,
    entities: [Product],
    synchronize: true,
  }).initialize();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  cleanUp(() => Promise.all([dataSource.destroy(), client.end()]));
  await client.query(
    `insert into products select 'sku-' || md5(i::text), 'a product' from generate_series(1, ${count}) i; analyze products`,
  );
  const source: BloomIdSource = await fromTypeOrm(Product, 'sku', { dataSource }).useFactory();
  assert((await readSource(source)) === count, 'the source to read every row');
  assert((await readByHand(client)) === count, 'the pages by hand to read every row');
  const result = await Comparison.run(
    [
      { name: 'ours', measure: () => rate(count, () => readSource(source)) },
      { name: BY_HAND, measure: () => rate(count, () => readByHand(client)) },
    ],
    pick(5, 1),
  );
  result.reportOthers(report, 'rows/s');
  result.expectTimes(report, { metric: 'rows/s', to: BY_HAND, atLeast: 1 / 1.3 });
};
