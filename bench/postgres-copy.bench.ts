import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import pg from 'pg';
import { fromPages } from '../src/sources/index.js';
import type { BloomIdSource } from '../src/rebuild/index.js';
import { postgresCopy } from '@nestjs-bloom/postgres';
import { assert, type Bench, type BenchContext, Comparison } from './harness.js';
import { startPostgres } from './postgres-server.js';
import { openFilter, redisBench } from './redis-bench.js';

const PSQL = 'psql \\copy to /dev/null';
const PAGES = 'the same pages without a filter';
const TAKE = 5_000;
/** So that ids have many digits. */
const STEP = 7_919;

/** A rebuild from a large table of Postgres, against what only reads it. */
export const bench: Bench = async (context) => {
  const { report, pick, skip, cleanUp } = context;
  const ids = pick(10_000_000, 20_000);
  const pagedIds = pick(2_000_000, 20_000);
  const postgres = await startPostgres(context);
  if (!postgres) return skip('postgres-copy', 'no Postgres is installed');
  const pool = new pg.Pool({ connectionString: postgres, max: 2 });
  cleanUp(() => pool.end());
  await pool.query(`create table products (id bigint primary key, name text)`);
  await pool.query(
    `insert into products select i::bigint * ${STEP}, 'a product' from generate_series(1, ${ids}) i`,
  );
  await pool.query('vacuum analyze products');
  const copied = await postgresCopy({ pool, table: 'products', column: 'id' }).useFactory();
  const paged = fromPages<{ id: string }>((after, { take }) => page(pool, after?.id, take, pagedIds), {
    key: 'id',
    take: TAKE,
  });
  const fromCopy = await rebuildOf(copied, ids, context);
  const fromPaged = await rebuildOf(paged, pagedIds, context);

  const copies = await Comparison.run(
    [
      { name: PSQL, measure: () => seconds(() => psql(postgres)) },
      { name: 'ours', measure: () => seconds(fromCopy) },
    ],
    pick(5, 1),
  );
  copies.reportOthers(report, `s for ${ids} rows`);
  copies.expectTimes(report, { metric: `s for ${ids} rows`, to: PSQL, atMost: 1.25 });
  const pages = await Comparison.run(
    [
      { name: PAGES, measure: () => seconds(() => readPages(pool, pagedIds)) },
      { name: 'ours', measure: () => seconds(fromPaged) },
    ],
    pick(5, 1),
  );
  pages.reportOthers(report, `s for ${pagedIds} rows in pages`);
  pages.expectTimes(report, { metric: `s for ${pagedIds} rows in pages`, to: PAGES, atMost: 2 });
};

/** A rebuild in Redis, whose result is right. */
async function rebuildOf(
  source: BloomIdSource,
  ids: number,
  context: BenchContext,
): Promise<() => Promise<void>> {
  const { url } = await redisBench(context);
  const { spelling } = source;
  const filter = await openFilter(
    url,
    {
      capacity: ids,
      source,
      ...(spelling && { normalize: spelling.normalize! }),
      replica: 'off',
      rebuild: { drainMs: 0 },
    },
    context,
  );
  const rebuild = async () => {
    const report = await filter.rebuild();
    assert(report.outcome === 'published' && report.idsRead === ids, `a rebuild of ${ids} ids`);
  };
  await rebuild();
  const sample = Array.from({ length: 1000 }, (_, i) => Math.floor((i * ids) / 1000) + 1);
  const present = await filter.checkMany(sample.map((i) => String(i * STEP)));
  assert(!present.includes('absent'), 'ours to find every id');
  const absent = await filter.checkMany(sample.map((i) => String(i * STEP + 1)));
  assert(absent.filter((verdict) => verdict !== 'absent').length <= 20, 'ours to deny absent ids');
  return rebuild;
}

async function page(pool: pg.Pool, after: string | undefined, take: number, upTo: number) {
  const { rows } = await pool.query<{ id: string }>(
    'select id from products where id > $1 and id <= $2 order by id limit $3',
    [after ?? 0, upTo * STEP, take],
  );
  return rows;
}

async function readPages(pool: pg.Pool, ids: number): Promise<void> {
  let read = 0;
  for (let after: string | undefined; ;) {
    const rows = await page(pool, after, TAKE, ids);
    if (rows.length === 0) break;
    read += rows.length;
    after = rows.at(-1)!.id;
  }
  assert(read === ids, `pages of ${ids} ids`);
}

async function psql(url: string): Promise<void> {
  await promisify(execFile)('psql', [url, '-qc', '\\copy (select id from products) to /dev/null']);
}

async function seconds(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}
