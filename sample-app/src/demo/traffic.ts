import { seededRandom } from '../seeded-random.js';

/** One lookup of a product page, or of an order. */
export interface Visit {
  /** Or the number of an order. */
  readonly sku: string;
  readonly exists: boolean;
}

export type Traffic = () => Visit;

/** Popularity as in shops: the product of rank r is looked up in proportion to 1/r (Zipf). */
export function realTraffic({ skus, seed }: { skus: readonly string[]; seed: number }): Traffic {
  const random = seededRandom(seed);
  const cumulated = new Float64Array(skus.length);
  let sum = 0;
  for (let rank = 0; rank < skus.length; rank++) cumulated[rank] = sum += 1 / (rank + 1);
  return () => ({ sku: skus[firstAbove(cumulated, random() * sum)]!, exists: true });
}

/** Lookups of SKUs that look right, do not exist, and are new each time: nothing a cache could keep helps. */
export function attackTraffic({ skus, seed }: { skus: readonly string[]; seed: number }): Traffic {
  const random = seededRandom(seed);
  const taken = new Set(skus);
  return () => {
    for (;;) {
      const example = skus[Math.floor(random() * skus.length)]!;
      const sku = `${example.slice(0, 10)}-${Math.floor(random() * 2 ** 32).toString(36)}`;
      if (taken.has(sku)) continue;
      taken.add(sku);
      return { sku, exists: false };
    }
  };
}

/** Lookups of orders that were cancelled. */
export function cancelledTraffic({ orders = 0, seed }: { orders?: number; seed: number }): Traffic {
  const random = seededRandom(seed);
  return () => ({ sku: String(10 * (1 + Math.floor((random() * orders) / 10))), exists: false });
}

function firstAbove(ascending: Float64Array, value: number): number {
  let low = 0;
  let high = ascending.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ascending[middle]! > value) high = middle;
    else low = middle + 1;
  }
  return low;
}
