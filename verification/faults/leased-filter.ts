import { type BloomEventListener, systemClock } from '../../src/common/index.js';
import { blocked } from '../../src/filter/index.js';
import type { FilterStore, StoredFilter, StoreRecorder } from '../../src/store/index.js';
import { RedisStore } from '../../src/store/redis/index.js';
import { LocalCopyStore } from '../../src/store/local-copy/index.js';
import { CAPACITY, drainOf, FILTER } from './filter-kinds.js';
import { PATIENT_TIMEOUT_MS, WRITE_TIMEOUT_MS } from './timings.js';

/** As by default. */
const LIMITS = { bytesPerSecond: 8 * 1024 * 1024, maxBytes: 256 * 1024 * 1024 };

export interface LeasedFilterOptions {
  readonly redis: string;
  readonly leaseMs: number;
  readonly emit: BloomEventListener;
  readonly recorder?: StoreRecorder;
}

/** The filter of the shop as one more reader has it. */
export async function openLeased({
  redis,
  leaseMs,
  emit,
  recorder,
}: LeasedFilterOptions): Promise<{ store: FilterStore; filter: StoredFilter }> {
  const timeouts = { timeoutMs: PATIENT_TIMEOUT_MS, writeTimeoutMs: WRITE_TIMEOUT_MS };
  const inRedis = await RedisStore.connect({
    redis,
    keyPrefix: 'bloom',
    trustAfterFailover: false,
    emit,
    ...timeouts,
  });
  const store = new LocalCopyStore(inRedis, LIMITS);
  const filter = store.open({
    name: FILTER,
    emit,
    clock: systemClock,
    layout: blocked,
    plan: { capacity: CAPACITY, errorRate: 1e-6, maxIdBytes: 1024 },
    hasSource: true,
    replica: 'leased',
    leaseMs,
    drainMs: drainOf('leased', leaseMs),
    recorder,
  });
  return { store, filter };
}
