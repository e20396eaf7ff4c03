import { type BloomEvent, systemClock } from '../../src/common/index.js';
import { type BloomFilterOptions, defineFilter, ManagedFilter } from '../../src/service/index.js';
import { PartitioningStore } from '../../src/store/partitions/index.js';
import { LocalCopyStore } from '../../src/store/local-copy/index.js';
import type { RedisFixture } from './redis-fixture.js';

export type Options = Partial<BloomFilterOptions>;

export const ROWS = Array.from({ length: 100 }, (_, i) => `Row-${i}`);
export const LOWER = (id: unknown) => String(id).toLowerCase();

/** One process of the application. */
export class Process {
  private constructor(
    readonly filter: ManagedFilter,
    readonly events: readonly BloomEvent[],
  ) {}

  static async start(redis: RedisFixture, name: string, options: Options): Promise<Process> {
    const { store } = await redis.open('unused', { owner: 'shop' });
    const shared = new PartitioningStore(new LocalCopyStore(store, { bytesPerSecond: 1e9, maxBytes: 1e9 }));
    const events: BloomEvent[] = [];
    const definition = defineFilter({
      name,
      capacity: 1000,
      errorRate: 1e-6,
      create: 'first-start',
      ...options,
    });
    const emit = (event: BloomEvent) => void events.push(event);
    const filter = new ManagedFilter(definition, { store: shared, emit, clock: systemClock });
    await filter.verify();
    return new Process(filter, events);
  }

  async verdicts(ids: readonly string[]): Promise<string[]> {
    const one = await Promise.all(ids.map((id) => this.filter.check(id)));
    return [...new Set([...one, ...(await this.filter.checkMany(ids))])];
  }

  /** Resolves when this process has seen what others have made of the filter. */
  async look(): Promise<string> {
    return (await this.filter.info()).state;
  }

  /** Why the filter is out of service, as this process has reported it. */
  get reasons(): string[] {
    return this.events.flatMap((event) =>
      event.type === 'state-changed' && event.state !== 'ready' ? [`${event.state}: ${event.reason}`] : [],
    );
  }
}

/** A table that processes read, with what they have added. */
export class Table {
  readonly rows = [...ROWS];

  constructor(private readonly readsFrom?: string) {}

  /** @param mayEnd when a reading may end, after it has read all rows */
  source(mayEnd?: Promise<void>) {
    const { rows, readsFrom } = this;
    return {
      async *ids() {
        yield [...rows];
        await mayEnd;
      },
      ...(readsFrom !== undefined && { readsFrom }),
    };
  }
}

/** As an older version has left them. */
export async function forgetContents(redis: RedisFixture, name: string): Promise<void> {
  const client = redis.client();
  for (const key of await client.keys(`*${name}*:meta`)) await client.hdel(key, 'contents');
  await client.del(`bloom:{${name}}:epoch`);
}
