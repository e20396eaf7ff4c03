import type { HeartbeatRule } from '../service/index.js';
import type { FilterStore } from '../store/index.js';
import { MemoryStore } from '../store/memory/index.js';
import { PartitioningStore } from '../store/partitions/index.js';
import { RedisStore } from '../store/redis/index.js';
import { ReplicaStore } from '../store/replica/index.js';
import { ownerOf } from './application-owner.js';
import type { BloomModuleOptions } from './bloom-module-options.js';
import type { EventHub } from './event-hub.js';

const MIB = 1024 * 1024;

/** The store that the options ask for. */
export async function createStore(options: BloomModuleOptions, events: EventHub): Promise<FilterStore> {
  const {
    redis,
    keyPrefix = 'bloom',
    timeoutMs = 25,
    writeTimeoutMs = 2000,
    trustAfterFailover = false,
    copies: { bytesPerSecond = 8 * MIB, maxBytes = 256 * MIB } = {},
  } = options;
  if (options.store !== undefined) return new PartitioningStore(options.store as FilterStore);
  if (redis === undefined) return new PartitioningStore(new MemoryStore());
  const inRedis = await RedisStore.connect({
    redis,
    keyPrefix,
    timeoutMs,
    writeTimeoutMs,
    trustAfterFailover,
    owner: ownerOf(options.owner),
    emit: events.emit,
  });
  return new PartitioningStore(new ReplicaStore(inRedis, { bytesPerSecond, maxBytes }));
}

/** How often a process reports to the others. */
export function heartbeatOf({ heartbeat }: BloomModuleOptions): HeartbeatRule | false {
  if (heartbeat === false) return false;
  const { everyMs = 1000 } = typeof heartbeat === 'object' ? heartbeat : {};
  return { everyMs, isAlways: heartbeat !== undefined };
}
