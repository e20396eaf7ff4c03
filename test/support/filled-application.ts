import { expect } from '@jest/globals';
import { Module, type Provider } from '@nestjs/common';
import {
  type BloomEvent,
  type BloomFeature,
  type BloomFilter,
  BloomModule,
  BloomService,
} from '../../src/index.js';
import { startContext } from './nest-app.js';

/** Fills a filter of an application with the ids of `products`, which are UUIDs, and hands it over. */
export async function withFilledFilter(
  source: BloomFeature['source'],
  provider: Provider,
  use: (filter: BloomFilter) => Promise<void>,
): Promise<void> {
  const events: BloomEvent[] = [];
  @Module({ providers: [provider] })
  class ShopModule {}
  const context = await startContext({
    imports: [
      BloomModule.forRoot({
        onEvent: (event) => events.push(event),
        filters: [{ name: 'products', capacity: 1000, source, rebuild: { drainMs: 0, onBoot: 'never' } }],
      }),
      ShopModule,
    ],
  });
  const filter = context.get(BloomService).filter('products');
  expect(await filter.rebuild()).toMatchObject({ outcome: 'published', ids: 100 });
  await use(filter);
  expect(events).toContainEqual(expect.objectContaining({ type: 'normalize-chosen', normalize: 'uuid' }));
  await context.close();
}
