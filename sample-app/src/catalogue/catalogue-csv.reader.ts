import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { CsvError } from 'csv-parse';
import { parse } from 'csv-parse/sync';
import type { Catalogue } from './catalogue.js';
import { isDescription, isSku, type Product, SKU_EXPECTED } from './product.js';

const COLUMNS = ['stockCode', 'description', 'unitPrice', 'firstSoldAt'] as const;
const HEADER = COLUMNS.join(',');

/** The catalogue file cannot be used. The message is for the person who named the file. */
export class CatalogueFileError extends Error {
  override readonly name = 'CatalogueFileError';
}

/** @throws {CatalogueFileError} naming the file, the line and what was expected there. */
export async function readCatalogueCsv(file: string): Promise<Catalogue> {
  const text = await readText(file);
  const products: Product[] = [];
  const lineOfSku = new Map<string, number>();
  let headerRead = false;
  let lastLine = 1;

  readRows(file, text, (record, line) => {
    lastLine = line;
    const wrong: Wrong = (expected, got) => wrongLine({ file, line, expected, got });
    if (!headerRead) {
      if (record.join() !== HEADER) throw wrong(`the header ${HEADER}`, `'${record.join()}'`);
      headerRead = true;
      return;
    }
    const product = readProduct(record, wrong);
    const earlier = lineOfSku.get(product.sku);
    if (earlier !== undefined) {
      throw wrong('a stockCode of its own', `'${product.sku}', which line ${earlier} has already`);
    }
    lineOfSku.set(product.sku, line);
    products.push(product);
  });

  const got = 'the end of the file';
  if (!headerRead) throw wrongLine({ file, line: 1, expected: `the header ${HEADER}`, got });
  if (products.length === 0) throw wrongLine({ file, line: lastLine + 1, expected: 'a product', got });
  return { source: file, products };
}

async function readText(file: string): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (error) {
    throw new CatalogueFileError(
      `${file}: expected a readable CSV file with the columns ${HEADER} (CATALOG), got: ${(error as Error).message}`,
      { cause: error },
    );
  }
  const text = bytes.toString('utf8');
  if (!isUtf8(bytes)) {
    const line = text.slice(0, text.indexOf('\uFFFD')).split('\n').length;
    throw wrongLine({ file, line, expected: 'text in UTF-8', got: 'bytes that are not' });
  }
  return text;
}

/** One row after the other, so that the first thing that is wrong is the one reported. */
function readRows(file: string, text: string, onRow: (record: string[], line: number) => void): void {
  try {
    parse(text, {
      bom: true,
      relax_column_count: true,
      skip_empty_lines: true,
      on_record: (record, { lines }) => {
        onRow(record, lines);
        return null;
      },
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw wrongLine({
      file,
      line: Number(error['lines']),
      expected: `a CSV row (${HEADER})`,
      got: error.message,
    });
  }
}

type Wrong = (expected: string, got: string) => CatalogueFileError;

function readProduct(record: string[], wrong: Wrong): Product {
  if (record.length !== COLUMNS.length) {
    throw wrong(`${COLUMNS.length} fields (${HEADER})`, `${record.length}`);
  }
  const [sku, description, unitPrice, firstSoldAt] = record as [string, string, string, string];
  if (!isSku(sku)) throw wrong(`stockCode to be ${SKU_EXPECTED}`, `'${sku}'`);
  if (!isDescription(description))
    throw wrong('description to be a text of at most 500 characters', `${description.length}`);
  if (!/^\d{1,10}(\.\d{1,2})?$/.test(unitPrice))
    throw wrong('unitPrice to be a number such as 4.25', `'${unitPrice}'`);
  const createdAt = new Date(firstSoldAt);
  if (!/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(firstSoldAt) || Number.isNaN(createdAt.getTime())) {
    throw wrong('firstSoldAt to be a time such as 2010-12-01T08:26:00Z', `'${firstSoldAt}'`);
  }
  return { sku, description, unitPrice: Number(unitPrice), createdAt };
}

function wrongLine(at: { file: string; line: number; expected: string; got: string }): CatalogueFileError {
  return new CatalogueFileError(`${at.file}, line ${at.line}: expected ${at.expected}, got ${at.got}.`);
}
