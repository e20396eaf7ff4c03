import { setTimeout as delay } from 'node:timers/promises';
import { BloomRebuildError, type BloomRebuildFailure } from 'nestjs-bloom';
import type { ShopInstance } from './shop-instance.js';

const GIVE_UP_MS = 120_000;

/** Rebuilds as soon as the lease is free, and again where a busy machine let the lease expire. */
export async function rebuild({ filter }: ShopInstance): Promise<void> {
  const startedAt = performance.now();
  for (let last: unknown; performance.now() - startedAt < GIVE_UP_MS; await delay(50)) {
    try {
      const report = await filter.rebuild();
      if (report.outcome === 'published') return;
      last = report.reason;
    } catch (error) {
      last = error;
    }
    if (performance.now() - startedAt > GIVE_UP_MS - 100) throw new Error(`No rebuild: ${String(last)}`);
  }
}

/**
 * A rebuild that must end without a new generation, and for this reason; one that a busy machine let lose its
 * lease is none.
 */
export async function expectRebuildToFail(
  { filter }: ShopInstance,
  expected: BloomRebuildFailure,
  signal?: AbortSignal,
): Promise<void> {
  let ended: string;
  const startedAt = performance.now();
  do {
    try {
      ended = (await filter.rebuild(signal && { signal })).outcome;
    } catch (error) {
      ended = error instanceof BloomRebuildError ? error.reason : String(error);
    }
  } while (ended === 'lease-lost' && expected !== ended && performance.now() - startedAt < GIVE_UP_MS);
  if (ended !== expected) throw new Error(`Expected the rebuild to end with '${expected}', got '${ended}'.`);
}
