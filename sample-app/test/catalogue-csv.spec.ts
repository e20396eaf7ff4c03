import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CatalogueFileError, readCatalogueCsv } from '../src/catalogue/catalogue-csv.reader.js';

const HEADER = 'stockCode,description,unitPrice,firstSoldAt';
const TIME = '2010-12-01T08:26:00Z';

describe('readCatalogueCsv', () => {
  let folder: string;
  let file: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'catalogue-'));
    file = join(folder, 'catalogue.csv');
  });
  afterAll(() => rm(folder, { recursive: true }));

  const read = async (content: string | Buffer) => {
    await writeFile(file, content);
    return readCatalogueCsv(file);
  };

  it('reads products with spaces, commas, quotes, line breaks and differing case', async () => {
    const { source, products } = await read(
      [
        `\uFEFF${HEADER}`,
        `15056BL,"PARASOL, BLACK",5.95,${TIME}`,
        `15056bl,"a ""small"" one",0.00,${TIME}`,
        `BANK CHARGES,,15,${TIME}`,
        `M,"two\r\nlines",1.5,2010-12-01T08:26:30.250Z`,
        '',
      ].join('\r\n'),
    );
    expect(source).toBe(file);
    expect(products).toEqual([
      { sku: '15056BL', description: 'PARASOL, BLACK', unitPrice: 5.95, createdAt: new Date(TIME) },
      { sku: '15056bl', description: 'a "small" one', unitPrice: 0, createdAt: new Date(TIME) },
      { sku: 'BANK CHARGES', description: '', unitPrice: 15, createdAt: new Date(TIME) },
      {
        sku: 'M',
        description: 'two\r\nlines',
        unitPrice: 1.5,
        createdAt: new Date('2010-12-01T08:26:30.250Z'),
      },
    ]);
  });

  it.each([
    ['an empty file', '', 'line 1: expected the header'],
    [
      'another header',
      `sku,description,unitPrice,firstSoldAt\nA,B,1,${TIME}\n`,
      'line 1: expected the header',
    ],
    ['no products', `${HEADER}\n`, 'line 2: expected a product'],
    ['a missing field', `${HEADER}\nA,B,1,${TIME}\nB,1,${TIME}\n`, 'line 3: expected 4 fields'],
    ['a field too many', `${HEADER}\nA,B,C,1,${TIME}\n`, 'line 2: expected 4 fields'],
    ['an empty stock code', `${HEADER}\n,B,1,${TIME}\n`, 'line 2: expected stockCode'],
    [
      'a stock code that is too long',
      `${HEADER}\n${'A'.repeat(65)},B,1,${TIME}\n`,
      'line 2: expected stockCode',
    ],
    [
      'a stock code used twice',
      `${HEADER}\nA,B,1,${TIME}\nC,D,1,${TIME}\nA,E,1,${TIME}\n`,
      'line 4: expected a stockCode of its own',
    ],
    ['a price that is no number', `${HEADER}\nA,B,cheap,${TIME}\n`, 'line 2: expected unitPrice'],
    ['a negative price', `${HEADER}\nA,B,-1,${TIME}\n`, 'line 2: expected unitPrice'],
    ['a time that is none', `${HEADER}\nA,B,1,yesterday\n`, 'line 2: expected firstSoldAt'],
    ['a day that does not exist', `${HEADER}\nA,B,1,2010-13-01T00:00:00Z\n`, 'line 2: expected firstSoldAt'],
    ['a quote that is not closed', `${HEADER}\nA,"B,1,${TIME}\n`, 'expected a CSV row'],
    ['a quote inside a field', `${HEADER}\nA,"B"C,1,${TIME}\n`, 'line 2: expected a CSV row'],
    ['NUL in a text', `${HEADER}\nA,B\0,1,${TIME}\n`, 'line 2: expected description'],
    [
      'another encoding',
      Buffer.from(`${HEADER}\nA,B,1,${TIME}\nC,caf\xe9,1,${TIME}\n`, 'latin1'),
      'line 3: expected text in UTF-8',
    ],
  ])('names file, line and what was expected for %s', async (_what, content, message) => {
    const error = await read(content).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CatalogueFileError);
    expect((error as Error).message).toContain(file);
    expect((error as Error).message).toContain(message);
  });

  it('names the file that does not exist', async () => {
    const missing = join(folder, 'missing.csv');
    const error = await readCatalogueCsv(missing).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CatalogueFileError);
    expect((error as Error).message).toMatch(/missing\.csv: expected a readable CSV file .*ENOENT/);
  });
});
