/** What lookups cost since the shop started. */
export interface ShopFigures {
  readonly cacheLookups: number;
  readonly cacheHits: number;
  /** SQL statements, those of catalogue loading and filter rebuilds included. */
  readonly databaseQueries: number;
  /** Guarded lookups of absent ids that were let through, audited ones and uncovered ones included. */
  readonly falsePositives: number;
}

export class ShopStatistics implements ShopFigures {
  cacheLookups = 0;
  cacheHits = 0;
  databaseQueries = 0;
  falsePositives = 0;

  snapshot(): ShopFigures {
    return { ...this };
  }

  since(earlier: ShopFigures): ShopFigures {
    return {
      cacheLookups: this.cacheLookups - earlier.cacheLookups,
      cacheHits: this.cacheHits - earlier.cacheHits,
      databaseQueries: this.databaseQueries - earlier.databaseQueries,
      falsePositives: this.falsePositives - earlier.falsePositives,
    };
  }
}
