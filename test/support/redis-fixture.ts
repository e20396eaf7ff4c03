import { Redis } from 'ioredis';
import { type BloomEvent, systemClock } from '../../src/common/index.js';
import type { BloomFilterStore } from '../../src/store/index.js';
import { RedisStore, type RedisStoreOptions } from '../../src/store/redis/index.js';
import { type RedisServer, startRedis } from './redis-server.js';

/** One process of the application, as far as Redis can tell. */
export interface Instance {
  readonly store: RedisStore;
  readonly filter: BloomFilterStore;
  readonly events: BloomEvent[];
  close(): Promise<void>;
}

/** A server of its own, and instances of the application on it. */
export class RedisFixture {
  private readonly stores = new Set<RedisStore>();
  private readonly clients: Redis[] = [];
  private named = 0;

  private constructor(readonly server: RedisServer) {}

  static async start(args: readonly string[] = []): Promise<RedisFixture> {
    return new RedisFixture(await startRedis({ args }));
  }

  /** A name that no other test of this file uses. */
  name(): string {
    return `filter-${++this.named}`;
  }

  /** Generous deadlines, on a machine that may be busy: where they are not the subject, none is to pass. */
  async open(name: string, options: Partial<RedisStoreOptions> = {}): Promise<Instance> {
    const events: BloomEvent[] = [];
    const emit = (event: BloomEvent) => void events.push(event);
    const store = await RedisStore.connect({
      redis: this.server.url,
      keyPrefix: 'bloom',
      trustAfterFailover: false,
      timeoutMs: 2000,
      writeTimeoutMs: 10_000,
      emit,
      ...options,
    });
    this.stores.add(store);
    const close = async () => {
      if (this.stores.delete(store)) await store.close();
    };
    return { store, filter: store.open({ name, emit, clock: systemClock }), events, close };
  }

  /** A connection that belongs to the test; closed with the fixture. */
  client(): Redis {
    const client = new Redis(this.server.url, { disconnectTimeout: 100 });
    client.on('error', () => {});
    this.clients.push(client);
    return client;
  }

  async close(): Promise<void> {
    await Promise.all([...this.stores].map((store) => store.close()));
    for (const client of this.clients) client.disconnect();
    await this.server.stop();
  }
}

/** How often the server ran each command since the last `CONFIG RESETSTAT`, without those of the test itself. */
export async function commandCounts(client: Redis): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const [, name, calls] of (await client.info('commandstats')).matchAll(
    /cmdstat_([\w|]+):calls=(\d+)/g,
  )) {
    if (!/^(info|config)/.test(name!)) counts[name!] = Number(calls);
  }
  return counts;
}
