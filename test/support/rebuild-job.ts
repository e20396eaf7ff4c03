import { type BloomEvent, systemClock } from '../../src/common/index.js';
import { type BloomId, toIdKey } from '../../src/filter/index.js';
import type { BloomIdSource, RebuildJob } from '../../src/rebuild/index.js';
import type { StoredFilter } from '../../src/store/index.js';
import { LEASE_MS, RARE } from './built-filter.js';

export interface TestJob extends RebuildJob {
  readonly events: BloomEvent[];
}

/** A rebuild of a filter of a test, without a drain unless it says so. */
export function rebuildJob(
  store: StoredFilter,
  source: BloomIdSource,
  options: Partial<RebuildJob> = {},
): TestJob {
  const events: BloomEvent[] = [];
  return {
    name: 'products',
    store,
    source,
    toKey: toIdKey,
    capacity: 1000,
    errorRate: RARE,
    maxIdBytes: 64,
    drainMs: 0,
    minRatio: 0.5,
    leaseMs: LEASE_MS,
    stallMs: LEASE_MS,
    emit: (event) => void events.push(event),
    clock: systemClock,
    ...options,
    events,
  };
}

/** A source of these batches. */
export function sourceOf(...batches: (BloomId | readonly BloomId[])[]): BloomIdSource {
  return {
    async *ids() {
      yield* batches;
    },
  };
}

/** A source that waits, once it is reached, until the test lets it go on. */
export function heldSource(ids: readonly BloomId[]) {
  let reach!: () => void;
  let release!: () => void;
  const reached = new Promise<void>((resolve) => (reach = resolve));
  const released = new Promise<void>((resolve) => (release = resolve));
  const source: BloomIdSource = {
    async *ids() {
      reach();
      await released;
      yield ids;
    },
  };
  return { source, reached, release };
}
