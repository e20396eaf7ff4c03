import type { IdKey } from '../../filter/index.js';
import { LEASE_TAKEN } from '../testing.messages.js';
import type { StoredFilter, RebuildLease, StagePlan, Staging } from '../../store/index.js';

/** So few errors that a test may take "maybe" for "was added". */
export const RARE = 1e-6;
/** Far longer than any test: a lease is lost only where a test takes it. */
export const LEASE_MS = 60_000;

export interface TestPlan {
  readonly capacity?: number;
  readonly errorRate?: number;
  readonly maxIdBytes?: number;
  readonly range?: StagePlan['range'];
}

export function testPlan({
  capacity = 1000,
  errorRate = RARE,
  maxIdBytes = 64,
  range,
}: TestPlan = {}): StagePlan {
  return { capacity, errorRate, maxIdBytes, ...(range && { range }) };
}

export async function leaseOf(store: StoredFilter, leaseMs = LEASE_MS): Promise<RebuildLease> {
  const lease = await store.lease({ leaseMs });
  if (!lease) throw new Error(LEASE_TAKEN);
  return lease;
}

export async function mergeIds(staging: Staging, ids: readonly IdKey[]): Promise<void> {
  for (const id of ids) staging.local.addKey(id);
  await staging.merge(new AbortController().signal);
}

export async function commitIds(staging: Staging, ids: readonly IdKey[]): Promise<void> {
  await mergeIds(staging, ids);
  await staging.commit(ids.length);
}

/** Builds a generation of exactly these ids, as a rebuild without a drain would. */
export async function build(store: StoredFilter, ids: readonly IdKey[], plan: TestPlan = {}): Promise<void> {
  const lease = await leaseOf(store);
  try {
    await commitIds(await lease.stage(testPlan(plan)), ids);
  } finally {
    await lease.release();
  }
}

/** `count` ids that no other prefix gives. */
export function idsOf(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `${prefix}-${i}`);
}
