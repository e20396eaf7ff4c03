import type { BloomEvent } from '../../src/common/index.js';
import { partOf } from '../../src/filter/index.js';
import { leasesCopy, type OpenFilterOptions } from '../../src/store/index.js';
import { PartitionedFilter } from '../../src/store/partitions/partitioned-filter.js';
import type { RedisStoreOptions } from '../../src/store/redis/index.js';
import { partName } from '../../src/store/redis/protocol/part-name.js';
import { ReplicaStore } from '../../src/store/replica/index.js';
import { idsOf } from './built-filter.js';
import { eventually } from './eventually.js';
import { openOptions } from './open-options.js';
import type { RedisFixture } from './redis-fixture.js';

export const PARTITIONS = 4;

/** One process that has a partitioned filter. */
export interface PartsProcess {
  readonly filter: PartitionedFilter;
  readonly events: BloomEvent[];
  close(): Promise<void>;
}

export interface PartsOptions {
  readonly filter?: Partial<OpenFilterOptions>;
  readonly store?: Partial<RedisStoreOptions>;
}

export async function openParts(
  redis: RedisFixture,
  name: string,
  { filter: options, store: ofStore }: PartsOptions = {},
): Promise<PartsProcess> {
  const instance = await redis.open(name, ofStore);
  const events: BloomEvent[] = [];
  const emit = (event: BloomEvent) => void events.push(event);
  const filter = new PartitionedFilter(new ReplicaStore(instance.store), {
    ...openOptions({ name, emit, replica: 'off', drainMs: 0, ...options }),
    partitions: PARTITIONS,
  });
  const close = async () => {
    await filter.close();
    await instance.close();
  };
  return { filter, events, close };
}

/** Whether this process answers "absent" alone, of a part or of all. */
export function isLeased({ filter }: PartsProcess, part?: number): boolean {
  if (part === undefined) return filter.copyLease?.isLeased ?? false;
  const one = filter.parts[part]!;
  return leasesCopy(one) && one.copyLease.isLeased;
}

/** Waits until this process answers "absent" alone. */
export async function untilLeased(...processes: readonly PartsProcess[]): Promise<void> {
  for (const process of processes) {
    await eventually('the copies of all parts are leased', async () => {
      if (!isLeased(process)) await process.filter.describe();
      return isLeased(process);
    });
  }
}

export function idsIn(part: number, prefix: string, count = 1): string[] {
  return idsOf(prefix, 50 * count)
    .filter((id) => partOf(id, PARTITIONS) === part)
    .slice(0, count);
}

export function keyOf(name: string, part: number, key: string): string {
  return `bloom:{${partName(name, part)}}:${key}`;
}
