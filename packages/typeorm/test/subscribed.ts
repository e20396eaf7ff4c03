import type { INestApplicationContext, ModuleMetadata } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { type BloomEvent, type BloomFilter, BloomModule, BloomService } from 'nestjs-bloom';
import { BloomTypeOrmSubscriber } from '../src/index.js';
import { startContext } from '../../../test/support/nest-app.js';

/** An entity, and the property whose values a filter of that name holds. */
export type Recorded = readonly [filter: string, entity: new () => object, property: string];

export interface Subscribed {
  readonly context: INestApplicationContext;
  readonly events: BloomEvent[];
  /** Those of the ids that the filter does not hold. */
  absent(filter: string, ids: readonly unknown[]): Promise<unknown[]>;
}

/** An application with filters that no source fills, and what records rows in them. */
export async function startSubscribed(
  dataSource: DataSource,
  recorded: readonly Recorded[],
  imports: NonNullable<ModuleMetadata['imports']> = [],
): Promise<Subscribed> {
  const events: BloomEvent[] = [];
  const filters = recorded.map(([name]) => ({
    name,
    capacity: 1000,
    create: 'first-start' as const,
    errorRate: 1e-6,
  }));
  const context = await startContext({
    imports: [BloomModule.forRoot({ onEvent: (event) => events.push(event), filters }), ...imports],
    providers: recorded.map(([filter, entity, property]) =>
      BloomTypeOrmSubscriber.provide(entity, property as never, { dataSource, filter }),
    ),
  });
  const filterOf = (name: string): BloomFilter => context.get(BloomService).filter(name);
  return {
    context,
    events,
    absent: async (filter, ids) => {
      const verdicts = await filterOf(filter).checkMany(ids as string[]);
      return ids.filter((_, i) => verdicts[i] !== 'maybe');
    },
  };
}
