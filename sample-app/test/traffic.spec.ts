import { expect, it } from '@jest/globals';
import { generateCatalogue } from '../src/catalogue/catalogue.generator.js';
import { attackTraffic, realTraffic, type Traffic } from '../src/demo/traffic.js';

const skus = generateCatalogue(1_000).products.map(({ sku }) => sku);
const take = (traffic: Traffic, count: number) => Array.from({ length: count }, () => traffic().sku);

it('real traffic looks up existing products, the popular ones most', () => {
  const visited = take(realTraffic({ skus, seed: 1 }), 20_000);
  const visits = (sku: string | undefined) => visited.filter((other) => other === sku).length;
  expect(visited.filter((sku) => !skus.includes(sku))).toEqual([]);
  // 1 / (1 + 1/2 + … + 1/1000) of all visits is 13.4 %.
  expect(visits(skus[0]) / 20_000).toBeCloseTo(0.134, 1);
  expect(visits(skus[0])).toBeGreaterThan(5 * visits(skus[9]));
});

it('an attack looks up what does not exist, never the same twice', () => {
  const visited = take(attackTraffic({ skus, seed: 1 }), 20_000);
  expect(new Set(visited).size).toBe(20_000);
  expect(visited.filter((sku) => skus.includes(sku))).toEqual([]);
});

it('traffic of one seed is the same', () => {
  for (const traffic of [realTraffic, attackTraffic]) {
    expect(take(traffic({ skus, seed: 7 }), 100)).toEqual(take(traffic({ skus, seed: 7 }), 100));
    expect(take(traffic({ skus, seed: 7 }), 100)).not.toEqual(take(traffic({ skus, seed: 8 }), 100));
  }
});
