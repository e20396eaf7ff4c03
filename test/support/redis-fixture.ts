import { Redis } from 'ioredis';
import type { BloomEvent } from '../../src/common/index.js';
import type { StoredFilter, OpenFilterOptions } from '../../src/store/index.js';
import type { RedisStore } from '../../src/store/redis/index.js';
import { eventually } from './eventually.js';
import { connectStore, type TestedStoreOptions } from './lua-client.js';
import { type RedisServer, startRedis } from './redis-server.js';
import { openOptions } from './open-options.js';
import { PATIENT } from './patience.js';
import { TcpProxy } from './tcp-proxy.js';

/** One process of the application, as far as Redis can tell. */
export interface Instance {
  readonly store: RedisStore;
  readonly filter: StoredFilter;
  readonly events: BloomEvent[];
  close(): Promise<void>;
}

/** A server of its own, and instances of the application on it. */
export class RedisFixture {
  private readonly stores = new Set<RedisStore>();
  private readonly clients: Redis[] = [];
  private readonly proxies: TcpProxy[] = [];
  private named = 0;

  private constructor(
    readonly server: RedisServer,
    private readonly suffix = '',
  ) {}

  static async start(args: readonly string[] = []): Promise<RedisFixture> {
    return new RedisFixture(await startRedis({ args }));
  }

  /** A cluster of one node, which does not know its host. */
  static async startCluster(): Promise<RedisFixture> {
    const fixture = await RedisFixture.start(['--cluster-enabled', 'yes']);
    const admin = fixture.client();
    await admin.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
    await eventually('the cluster serves', async () =>
      (await admin.cluster('INFO')).includes('cluster_state:ok'),
    );
    admin.disconnect();
    return fixture;
  }

  /** On a server of somebody else's, which is left as it is but for the keys of this fixture's own names. */
  static at(url: string): RedisFixture {
    const { hostname, port } = new URL(url);
    const refuse = async () => {
      throw new Error('This server belongs to somebody else.');
    };
    return new RedisFixture(
      {
        url,
        host: hostname,
        port: Number(port || 6379),
        pid: 0,
        dir: '',
        stop: async () => {},
        kill: refuse,
        restart: refuse,
      },
      `-${process.pid}-${Date.now()}`,
    );
  }

  /** A name that no other test of this file uses. */
  name(): string {
    return `filter-${++this.named}${this.suffix}`;
  }

  /** Generous deadlines, on a machine that may be busy: where they are not the subject, none is to pass. */
  async open(
    name: string,
    options: Partial<TestedStoreOptions> = {},
    opened: Partial<OpenFilterOptions> = {},
  ): Promise<Instance> {
    const events: BloomEvent[] = [];
    const emit = (event: BloomEvent) => void events.push(event);
    const store = await connectStore({
      redis: this.server.url,
      keyPrefix: 'bloom',
      trustAfterFailover: false,
      ...PATIENT,
      emit,
      ...options,
    });
    this.stores.add(store);
    const close = async () => {
      if (this.stores.delete(store)) await store.close();
    };
    return { store, filter: store.open(openOptions({ name, emit, ...opened })), events, close };
  }

  /** A connection that belongs to the test; closed with the fixture. */
  client(): Redis {
    const client = new Redis(this.server.url, { disconnectTimeout: 100 });
    client.on('error', () => {});
    this.clients.push(client);
    return client;
  }

  /** A door before the server; closed with the fixture. */
  async openProxy(): Promise<TcpProxy> {
    const proxy = await TcpProxy.open(this.server);
    this.proxies.push(proxy);
    return proxy;
  }

  async close(): Promise<void> {
    if (this.suffix !== '') await this.removeKeys();
    await Promise.all([...this.stores].map((store) => store.close()));
    await Promise.all(this.proxies.map((proxy) => proxy.close()));
    for (const client of this.clients) client.disconnect();
    await this.server.stop();
  }

  private async removeKeys(): Promise<void> {
    const client = this.client();
    for await (const keys of client.scanStream({ match: `*${this.suffix}*` }) as AsyncIterable<string[]>) {
      if (keys.length > 0) await client.unlink(...keys);
    }
  }
}

/**
 * How often the server ran each command since the last `CONFIG RESETSTAT`, without those of the test itself.
 */
export async function commandCounts(client: Redis): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const [, name, calls] of (await client.info('commandstats')).matchAll(
    /cmdstat_([\w|]+):calls=(\d+)/g,
  )) {
    if (!/^(info|config)/.test(name!)) counts[name!] = Number(calls);
  }
  return counts;
}

/** What one reading of the metadata runs. */
const READING = ['evalsha', 'hdel', 'type', 'hgetall'];

/**
 * Counts commands from now on. While it is used, a filter reads its metadata again once a second, whatever it
 * is asked: on a machine that is slow such readings come in between, and as many as can be due by then are
 * left out.
 */
export async function commandsFrom(
  client: Redis,
  filter: StoredFilter,
): Promise<() => Promise<Record<string, number>>> {
  const readAt = performance.now();
  await filter.describe();
  await client.config('RESETSTAT');
  return async () => {
    const counts = await commandCounts(client);
    const due = Math.min(counts['hgetall'] ?? 0, Math.floor((performance.now() - readAt) / 1000));
    const others = Object.entries(counts).map(([name, calls]): [string, number] => [
      name,
      READING.includes(name) ? calls - due : calls,
    ]);
    return Object.fromEntries(others.filter(([, calls]) => calls !== 0));
  };
}
