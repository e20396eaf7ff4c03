import { Injectable } from '@nestjs/common';
import { createCache } from 'cache-manager';
import { ShopStatistics } from '../statistics/shop-statistics.js';
import type { Product } from './product.js';

const TIME_TO_LIVE_MS = 60_000;

/**
 * Products looked up lately. Absent ones are not kept: an attacker's ids never come twice and would only fill
 * it.
 */
@Injectable()
export class ProductCache {
  private readonly cache = createCache({ ttl: TIME_TO_LIVE_MS });

  constructor(private readonly statistics: ShopStatistics) {}

  async read(sku: string, load: () => Promise<Product | null>): Promise<Product | null> {
    this.statistics.cacheLookups++;
    const cached = await this.cache.get<Product>(sku);
    if (cached) {
      this.statistics.cacheHits++;
      return cached;
    }
    const product = await load();
    if (product) await this.cache.set(sku, product);
    return product;
  }
}
