import type pg from 'pg';
import type { BloomIdSource } from '../src/rebuild/index.js';

const TAKE = 5_000;

/** Rows of a source. */
export async function readSource(source: BloomIdSource): Promise<number> {
  let rows = 0;
  for await (const page of source.ids({ signal: new AbortController().signal }))
    rows += (page as unknown[]).length;
  return rows;
}

/** Rows of the same pages, written by hand. */
export async function readByHand(client: pg.Client): Promise<number> {
  let rows = 0;
  for (let after = ''; ;) {
    const page = await client.query<{ sku: string }>(
      'select sku from products where sku > $1 order by sku limit $2',
      [after, TAKE],
    );
    if (page.rows.length === 0) return rows;
    rows += page.rows.map(({ sku }) => sku).length;
    after = page.rows.at(-1)!.sku;
  }
}
