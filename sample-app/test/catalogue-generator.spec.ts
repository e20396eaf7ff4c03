import { createHash } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { isSku } from '../src/catalogue/product.js';
import { generateCatalogue } from '../src/catalogue/catalogue.generator.js';

const { source, products } = generateCatalogue(50_000);

it('generates the same catalogue on every machine', () => {
  const hash = createHash('sha256').update(JSON.stringify(products)).digest('hex');
  expect(hash).toBe('fad5320c5904c4ee59823e4d222037931792d134d381f14f9389ee134bb26cb3');
});

it('generates as many different valid SKUs as asked for', () => {
  expect(source).toBe('generated');
  expect(new Set(products.map(({ sku }) => sku)).size).toBe(50_000);
  expect(products.filter(({ sku }) => !isSku(sku))).toEqual([]);
  expect(products.some(({ sku }) => sku.includes(' '))).toBe(true);
});
