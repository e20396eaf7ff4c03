import { BloomConfigError, type BloomEventListener } from '../../common/index.js';
import { blocked } from '../../filter/index.js';
import type {
  BlockListener,
  StoredFilter,
  CopyableFilter,
  CopyableStore,
  OpenFilterOptions,
  RedisClient,
} from '../index.js';
import { NegativeCacheScripts } from './blocked/negative-cache-table.js';
import { BlockedCodec } from './blocked/blocked-codec.js';
import { noLeasesOnCluster } from './blocked/copies/copies.messages.js';
import { CopyScripts } from './blocked/copies/copy-scripts.js';
import { CopyWaits } from './blocked/copies/copy-waits.js';
import { RedisLeaseServer, type ExtraConnections } from './blocked/copies/redis-lease-server.js';
import { LostLeases } from './blocked/copies/lost-leases.js';
import { ChannelReader } from './client/channel-reader.js';
import { ScriptWithoutReply } from './client/script-without-reply.js';
import { StreamReader } from './client/stream-reader.js';
import { RebuildLock } from './lock/rebuild-lock.js';
import { MetadataCache } from './meta/metadata-cache.js';
import { RedisConnection, type RedisTimeouts } from './client/redis-connection.js';
import { type BloomRedis, openRedis } from './client/redis-option.js';
import { BlockedFilterInRedis } from './blocked/blocked-filter.js';
import { partName } from './meta/redis-keys.js';
import { RedisKeys } from './meta/redis-keys.js';
import { opensInRedis, type RedisContext } from './meta/filter-context.js';
import { layoutNotInRedis, twoFiltersOnKey } from './redis.messages.js';
import { BlockedScripts } from './blocked/blocked-scripts.js';
import { ServerScripts } from './meta/server-scripts.js';

export interface RedisStoreOptions extends RedisTimeouts {
  readonly redis: BloomRedis;
  readonly keyPrefix: string;
  /** Believes the data of a server that restarted or failed over. */
  readonly trustAfterFailover: boolean;
  readonly emit: BloomEventListener;
  /** The application that claims the filters that do not name another one; undefined: none does. */
  readonly owner?: string | undefined;
}

/** Filters in Redis, shared by all instances of an application. */
export class RedisStore implements CopyableStore {
  readonly kind = 'redis';

  private readonly scripts: ServerScripts;
  private readonly blocked: BlockedScripts;
  /** Filters by the key of other systems that they are on. */
  private readonly owners = new Map<string, string>();
  private readonly negativeCacheScripts: NegativeCacheScripts;
  private readonly copyScripts: CopyScripts;
  /** Undefined on a Cluster. */
  private readonly side: ExtraConnections | undefined;

  private constructor(
    private readonly connection: RedisConnection,
    client: RedisClient,
    private readonly options: RedisStoreOptions,
  ) {
    this.scripts = new ServerScripts(connection);
    this.blocked = new BlockedScripts(connection);
    this.negativeCacheScripts = new NegativeCacheScripts(connection);
    this.copyScripts = new CopyScripts(connection);
    if (!client.openExtra) return;
    const { emit } = options;
    const serverOf = () => connection.serverOf('');
    this.side = {
      streams: new StreamReader(client, emit, serverOf),
      channels: new ChannelReader(client, emit, serverOf),
      silent: new ScriptWithoutReply(client, this.copyScripts.acknowledgement, emit, serverOf),
    };
  }

  /**
   * @throws {BloomConfigError} when ioredis is not installed, or the client given reads from replicas or may
   * not be used.
   */
  static async connect(options: RedisStoreOptions): Promise<RedisStore> {
    const client = await openRedis(options.redis, options.writeTimeoutMs);
    return new RedisStore(new RedisConnection(client, options, options.emit), client, options);
  }

  open(options: OpenFilterOptions): StoredFilter {
    const { name, layout } = options;
    if (layout.kind === blocked.kind) return this.openBlocked(options);
    if (!opensInRedis(layout)) throw new BloomConfigError(layoutNotInRedis(name, layout.kind));
    if (layout.claimedKey !== undefined) this.claim(layout.claimedKey, name);
    // A key that others make, and that nobody here rebuilds, may be shared by any number of applications.
    const isShared = layout.isMadeByOthers && !options.hasSource;
    return layout.openRedis({ ...this.contextOf(options), ...(isShared && { owner: undefined }) });
  }

  /** What a look at filters from outside works with. */
  get access(): Pick<RedisContext, 'connection' | 'scripts' | 'keyPrefix'> {
    const { connection, scripts } = this;
    return { connection, scripts, keyPrefix: this.options.keyPrefix };
  }

  openCopyable(options: OpenFilterOptions & { onBlocks: BlockListener }): CopyableFilter {
    return this.openBlocked(options);
  }

  close(): Promise<void> {
    for (const one of Object.values(this.side ?? {})) one.close();
    return this.connection.close();
  }

  /** Two filters on one key would each replace it by its own source, and deny the ids of the other. */
  private claim(key: string, name: string): void {
    const owner = this.owners.get(key) ?? name;
    this.owners.set(key, owner);
    if (owner === name) return;
    throw new BloomConfigError(twoFiltersOnKey(key, [owner, name]));
  }

  private contextOf({ owner = this.options.owner, ...options }: OpenFilterOptions): RedisContext {
    const { connection, scripts } = this;
    const { trustAfterFailover, keyPrefix } = this.options;
    return {
      ...options,
      owner: owner === false ? undefined : owner,
      connection,
      scripts,
      trustAfterFailover,
      keyPrefix,
    };
  }

  private openBlocked(options: OpenFilterOptions & { onBlocks?: BlockListener }): BlockedFilterInRedis {
    const { blocked, negativeCacheScripts, side, copyScripts } = this;
    const context = this.contextOf(options);
    const { name, owner, part, keyPrefix } = context;
    const { replica, leaseMs } = options;
    if (leaseMs !== undefined && !side) throw new BloomConfigError(noLeasesOnCluster(name));
    const keys = new RedisKeys(keyPrefix, part ? partName(name, part.index) : name);
    const filter = { ...context, part, keys, epoch: part?.epoch };
    const lostLeases = new LostLeases(leaseMs);
    const codec = new BlockedCodec(keys, blocked, owner, lostLeases, part?.of);
    const metadata = new MetadataCache({ ...filter, codec, adopts: false, ownsKey: true });
    const copies = { metadata, copyScripts, lostLeases };
    const copyWaits = new CopyWaits({ ...filter, ...copies, channels: side?.channels });
    const lock = new RebuildLock(filter);
    const opened = { ...filter, ...copies, copyWaits, lock, blocked, negativeCacheScripts };
    const isReader = leaseMs !== undefined && replica === 'leased';
    return new BlockedFilterInRedis(opened, {
      ...options,
      leases: side && isReader ? new RedisLeaseServer(opened, side, leaseMs) : undefined,
    });
  }
}
