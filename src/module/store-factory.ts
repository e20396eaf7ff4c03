import { BloomConfigError } from '../common/index.js';
import type { HeartbeatRule } from '../service/index.js';
import type { FilterStore } from '../store/index.js';
import { MemoryStore } from '../store/memory/index.js';
import { PartitioningStore } from '../store/partitions/index.js';
import { RedisStore } from '../store/redis/index.js';
import { type CopyLimits, ReplicaStore } from '../store/replica/index.js';
import { ownerOf } from './application-owner.js';
import type { BloomModuleOptions } from './bloom-module-options.js';
import type { EventHub } from './event-hub.js';
import { wrongCopyLimit, wrongHeartbeat, wrongKeyPrefix, wrongTimeout } from './module.messages.js';

const MIB = 1024 * 1024;

/**
 * The store that the options ask for.
 *
 * @throws {BloomConfigError} for an option that cannot work.
 */
export async function createStore(options: BloomModuleOptions, events: EventHub): Promise<FilterStore> {
  const {
    redis,
    keyPrefix = 'bloom',
    timeoutMs = 25,
    writeTimeoutMs = 2000,
    trustAfterFailover = false,
  } = options;
  if (options.store !== undefined) return new PartitioningStore(options.store as FilterStore);
  const limits = copyLimits(options.copies);
  if (redis === undefined) return new PartitioningStore(new MemoryStore());
  if (!/^[^{}\s]+$/.test(keyPrefix)) {
    throw new BloomConfigError(wrongKeyPrefix(keyPrefix));
  }
  for (const [name, value] of Object.entries({ timeoutMs, writeTimeoutMs })) {
    if (!(value >= 1 && value < 2 ** 31)) {
      throw new BloomConfigError(wrongTimeout(name, value));
    }
  }
  const inRedis = await RedisStore.connect({
    redis,
    keyPrefix,
    timeoutMs,
    writeTimeoutMs,
    trustAfterFailover,
    owner: ownerOf(options.owner),
    emit: events.emit,
  });
  return new PartitioningStore(new ReplicaStore(inRedis, limits));
}

/**
 * How often a process reports to the others.
 *
 * @throws {BloomConfigError} for an option that cannot work.
 */
export function heartbeatOf({ heartbeat }: BloomModuleOptions): HeartbeatRule | false {
  if (heartbeat === false) return false;
  const { everyMs = 1000 } = typeof heartbeat === 'object' ? heartbeat : {};
  if (!(Number.isSafeInteger(everyMs) && everyMs >= 1000 && everyMs <= 60_000))
    throw new BloomConfigError(wrongHeartbeat(everyMs));
  return { everyMs, isAlways: heartbeat !== undefined };
}

function copyLimits({
  bytesPerSecond = 8 * MIB,
  maxBytes = 256 * MIB,
}: NonNullable<BloomModuleOptions['copies']> = {}): CopyLimits {
  const limits = { bytesPerSecond, maxBytes };
  for (const [name, value] of Object.entries(limits)) {
    if (typeof value !== 'number' || !(value > 0)) throw new BloomConfigError(wrongCopyLimit(name, value));
  }
  return limits;
}
