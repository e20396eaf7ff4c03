import { Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { BloomModule, fromPages } from 'nestjs-bloom';
import pg from 'pg';
import { POOL, type Product, ProductRepository } from './product.repository.js';

@Module({
  imports: [
    // The two applications have the same rows, so they share the filter: one owner.
    BloomModule.forRoot({
      redis: process.env.REDIS_URL ?? 'redis://localhost:6379',
      timeoutMs: Number(process.env.BLOOM_TIMEOUT_MS ?? 25),
      owner: 'catalogue',
    }),
    BloomModule.forFeature({
      name: 'products',
      capacity: 100_000,
      source: {
        inject: [POOL],
        useFactory: (pool: pg.Pool) =>
          fromPages<Pick<Product, 'sku'>>(
            async (after, { take }) => {
              const from = after ? 'WHERE sku > $2' : '';
              const values = after ? [take, after.sku] : [take];
              return (await pool.query(`SELECT sku FROM products ${from} ORDER BY sku LIMIT $1`, values))
                .rows;
            },
            { key: 'sku' },
          ),
      },
      // Longer than any transaction here that creates a product. Both applications have the schedule: one of
      // them rebuilds.
      rebuild: { everyMs: 3_600_000, drainMs: 3_000 },
    }),
  ],
  providers: [
    { provide: POOL, useFactory: () => new pg.Pool({ connectionString: process.env.DATABASE_URL }) },
    ProductRepository,
  ],
  exports: [ProductRepository],
})
export class CatalogueModule implements OnApplicationShutdown {
  constructor(@Inject(POOL) private readonly pool: pg.Pool) {}

  async onApplicationShutdown(): Promise<void> {
    await this.pool.end();
  }
}
