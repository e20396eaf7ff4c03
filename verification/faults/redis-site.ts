import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { BloomRedis } from '../../src/store/redis/index.js';
import { eventually } from '../../test/support/eventually.js';
import { type RedisServer, startRedis } from '../../test/support/redis-server.js';
import { Sentinel, SENTINEL_MASTER } from './sentinel.js';
import { SwappingProxy } from '../../test/support/swapping-proxy.js';
import { type Address, TcpProxy } from '../../test/support/tcp-proxy.js';
import { LAG_MS } from './timings.js';

/** The servers of one fault, and how its instances reach them. */
export interface RedisSite {
  /** What the instance of this number is configured with. */
  connection(instance: number): BloomRedis;
  stop(): Promise<void>;
}

export function adminOf(server: { host: string; port: number }): Redis {
  const admin = new Redis({ host: server.host, port: server.port, retryStrategy: () => 50 });
  admin.on('error', () => {});
  return admin;
}

/** One server. */
export class ServerSite implements RedisSite {
  private constructor(
    readonly server: RedisServer,
    readonly admin: Redis,
    private readonly credentials: { username?: string; password?: string },
  ) {}

  static async start(
    args: readonly string[] = [],
    credentials: { username?: string; password?: string } = {},
  ): Promise<ServerSite> {
    const server = await startRedis({ args });
    return new ServerSite(server, adminOf(server), credentials);
  }

  connection(): BloomRedis {
    const { server, credentials } = this;
    return { host: server.host, port: server.port, ...credentials };
  }

  async stop(): Promise<void> {
    this.admin.disconnect();
    await this.server.stop();
  }
}

/** One server behind proxies of two instances or more; the others reach it straight. */
export class ProxiedSite implements RedisSite {
  private constructor(
    readonly server: RedisServer,
    readonly proxies: readonly [TcpProxy, TcpProxy, ...TcpProxy[]],
    private readonly behind: readonly number[],
  ) {}

  static async start(
    behind: readonly [number, number, ...number[]] = [0, 1],
    args: readonly string[] = [],
  ): Promise<ProxiedSite> {
    const server = await startRedis({ args });
    const [first, second, ...others] = behind.map(() => TcpProxy.open(server));
    const proxies = await Promise.all([first!, second!, ...others]);
    return new ProxiedSite(server, proxies, behind);
  }

  connection(instance: number): BloomRedis {
    return this.proxies[this.behind.indexOf(instance)]?.url ?? this.server.url;
  }

  async stop(): Promise<void> {
    await Promise.all(this.proxies.map((proxy) => proxy.close()));
    await this.server.stop();
  }
}

/** Two servers behind one proxy, which can put the other one behind connections that stay open. */
export class SwappedSite implements RedisSite {
  private constructor(
    readonly first: RedisServer,
    readonly second: RedisServer,
    private readonly proxy: SwappingProxy,
  ) {}

  static async start(): Promise<SwappedSite> {
    const args = ['--repl-diskless-sync-delay', '0'];
    const [first, second] = await Promise.all([startRedis({ args }), startRedis({ args })]);
    return new SwappedSite(first, second, await SwappingProxy.open(first));
  }

  connection(): BloomRedis {
    return this.proxy.url;
  }

  swap(): Promise<void> {
    return this.proxy.swapBetweenReplies(this.second);
  }

  async stop(): Promise<void> {
    await this.proxy.close();
    await Promise.all([this.first.stop(), this.second.stop()]);
  }
}

/**
 * A master with a replica, whose link goes through a proxy; the first two instances have a door of their own,
 * the third another.
 */
export class ReplicatedSite implements RedisSite {
  readonly masterAdmin: Redis;
  readonly replicaAdmin: Redis;

  protected constructor(
    readonly master: RedisServer,
    readonly replica: RedisServer,
    /** What the replica reads of the master. */
    readonly link: TcpProxy,
    readonly doors: readonly [TcpProxy, TcpProxy],
  ) {
    this.masterAdmin = adminOf(master);
    this.replicaAdmin = adminOf(replica);
  }

  static async start(): Promise<ReplicatedSite> {
    return new ReplicatedSite(...(await startPair()));
  }

  connection(instance: number): BloomRedis {
    return this.doors[instance < 2 ? 0 : 1].url;
  }

  /** Cuts the replica off, and lets the master acknowledge what never reaches it for some time. */
  async lag(ms = LAG_MS): Promise<void> {
    this.link.hold();
    await delay(ms);
  }

  async promote(): Promise<void> {
    await this.replicaAdmin.call('REPLICAOF', 'NO', 'ONE');
  }

  /**
   * Sends the instances behind these doors to a server, as a name that changes and connections that end do.
   */
  lead(server: RedisServer, doors: readonly TcpProxy[] = this.doors): void {
    for (const door of doors) {
      door.target = server;
      door.disconnect();
    }
  }

  /** Leads new connections to a server, while those that are open stay, as a name that changes does. */
  turn(server: RedisServer): void {
    for (const door of this.doors) door.target = server;
  }

  async stop(): Promise<void> {
    this.masterAdmin.disconnect();
    this.replicaAdmin.disconnect();
    await Promise.all([this.link, ...this.doors].map((proxy) => proxy.close()));
    await Promise.all([this.master.stop(), this.replica.stop()]);
  }
}

/**
 * The same pair, watched by a sentinel that the instances ask for the master; the first instance reaches each
 * of the two servers through a door.
 */
export class SentinelSite extends ReplicatedSite {
  private sentinel!: Sentinel;

  static override async start(): Promise<SentinelSite> {
    const site = new SentinelSite(...(await startPair()));
    site.doors[1].target = site.replica;
    site.sentinel = await Sentinel.start(site.master);
    return site;
  }

  get sentinels(): Address[] {
    return [this.sentinel.address];
  }

  /** The doors of the two servers. */
  get natMap(): Record<string, Address> {
    const entries = [this.master, this.replica].map(({ host, port }, i): [string, Address] => [
      `${host}:${port}`,
      { host, port: this.doors[i]!.port },
    ]);
    return Object.fromEntries(entries);
  }

  override connection(instance: number): BloomRedis {
    const { sentinels, natMap } = this;
    return { sentinels, name: SENTINEL_MASTER, ...(instance === 0 && { natMap }) };
  }

  /** Kills the master; resolves when the sentinel has promoted the replica. */
  async failOver(): Promise<void> {
    await this.master.kill();
    await eventually('the sentinel promotes the replica', async () =>
      (await this.replicaAdmin.info('replication')).includes('role:master'),
    );
  }

  override async stop(): Promise<void> {
    await this.sentinel.stop();
    await super.stop();
  }
}

async function startPair(): Promise<[RedisServer, RedisServer, TcpProxy, [TcpProxy, TcpProxy]]> {
  const diskless = ['--repl-diskless-sync-delay', '0'];
  const [master, replica] = await Promise.all([
    startRedis({ args: diskless }),
    startRedis({ args: diskless }),
  ]);
  const link = await TcpProxy.open(master);
  const admin = adminOf(replica);
  await admin.call('REPLICAOF', link.target.host, String(link.port));
  await eventually('the replica follows', async () =>
    (await admin.info('replication')).includes('master_link_status:up'),
  );
  admin.disconnect();
  return [master, replica, link, [await TcpProxy.open(master), await TcpProxy.open(master)]];
}
