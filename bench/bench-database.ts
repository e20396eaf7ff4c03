import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import { idText } from './ids.js';

const TABLE = 'bloom_bench_products';
const CREATE = `drop table if exists ${TABLE}; create table ${TABLE} (id text primary key, name text not null)`;
const FIND = `select id, name from ${TABLE} where id = $1`;
const INSERT = `insert into ${TABLE} select id, 'a product' from unnest($1::text[]) as id`;

export interface BenchDatabase {
  readonly queries: number;
  find(id: string): Promise<object | undefined>;
}

/** A table of the first `products` present ids: in a Postgres server, or embedded. */
export async function openDatabase(products: number, url?: string): Promise<BenchDatabase> {
  const ids = Array.from({ length: products }, (_, i) => idText('prod', i));
  let queries = 0;
  const counted = (query: (id: string) => Promise<{ rows: object[] }>): BenchDatabase => ({
    get queries() {
      return queries;
    },
    find: async (id) => {
      queries++;
      return (await query(id)).rows[0];
    },
  });
  if (url) {
    const pool = new pg.Pool({ connectionString: url, max: 10 });
    await pool.query(CREATE);
    await pool.query(INSERT, [ids]);
    return counted((id) => pool.query({ name: 'find', text: FIND, values: [id] }));
  }
  const embedded = await PGlite.create();
  await embedded.exec(CREATE);
  await embedded.query(INSERT, [ids]);
  return counted((id) => embedded.query<object>(FIND, [id]));
}
