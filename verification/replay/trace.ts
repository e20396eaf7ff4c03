import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { parse } from 'csv-parse';
import { generateCatalogue } from '../../sample-app/src/catalogue/catalogue.generator.js';
import { readCatalogueCsv } from '../../sample-app/src/catalogue/catalogue-csv.reader.js';
import type { Product } from '../../sample-app/src/catalogue/product.js';
import { seededRandom } from '../../sample-app/src/seeded-random.js';

/** A shop's products, and the SKUs of its order lines in time order. */
export interface Trace {
  readonly products: ReadonlyMap<string, Product>;
  readonly orderLines: AsyncIterable<string>;
  readonly length: number | undefined;
}

const GENERATED_PRODUCTS = 4_000;
const GENERATED_LINES = 200_000;
const SEED = 541_909;

export async function readTrace(folder: string): Promise<Trace> {
  const { products } = await readCatalogueCsv(join(folder, 'catalog.csv'));
  return {
    products: new Map(products.map((product) => [product.sku, product])),
    orderLines: readOrderLines(join(folder, 'orders.csv.gz')),
    length: undefined,
  };
}

async function* readOrderLines(file: string): AsyncGenerator<string> {
  const rows = pipeline(
    createReadStream(file),
    createGunzip(),
    parse({ columns: true, bom: true }),
    () => {},
  );
  let line = 1;
  for await (const row of rows as AsyncIterable<{ stockCode?: string }>) {
    line++;
    if (!row.stockCode) throw new Error(`${file}, line ${line}: expected a stockCode, got none.`);
    yield row.stockCode;
  }
}

/**
 * As a shop sells: a few products make most of the lines, and new ones come all the time, the most at first.
 */
export function generateTrace(): Trace {
  const { products } = generateCatalogue(GENERATED_PRODUCTS);
  return {
    products: new Map(products.map((product) => [product.sku, product])),
    orderLines: generateOrderLines(products.map(({ sku }) => sku)),
    length: GENERATED_LINES,
  };
}

async function* generateOrderLines(skus: readonly string[]): AsyncGenerator<string> {
  const random = seededRandom(SEED);
  for (let line = 0; line < GENERATED_LINES; line++) {
    const onSale = Math.ceil(skus.length * Math.sqrt((line + 1) / GENERATED_LINES));
    yield skus[Math.floor(onSale * random() ** 2)]!;
  }
}
