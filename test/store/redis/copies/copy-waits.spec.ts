import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { BlockedSnapshot } from '../../../../src/store/redis/blocked/blocked-snapshot.js';
import { CopyWaits, type CopyWaitsContext } from '../../../../src/store/redis/blocked/copies/copy-waits.js';

const LEASE_MS = 1000;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Whether an add waits whose script found metadata that know of no lease, of which the wait for leases nobody has seen is over. */
async function isWaiting({ isOfServer, leaseMs }: { isOfServer: boolean; leaseMs: number }, ms: number) {
  const context = {
    name: 'f',
    emit: () => {},
    metadata: { isOfServer: () => isOfServer },
    unseenLeases: { leaseMs },
  };
  const waits = new CopyWaits(context as unknown as CopyWaitsContext);
  const unseenUntil = performance.now() - 1;
  let isOver = false;
  const added = waits.settleAdd({ leasesMs: undefined, unseenUntil } as BlockedSnapshot, undefined);
  void added.then(() => (isOver = true));
  await jest.advanceTimersByTimeAsync(ms);
  return !isOver;
}

describe('An add on a filter whose metadata know of no lease', () => {
  it('waits for nothing when the first look at them is long ago', async () => {
    expect(await isWaiting({ isOfServer: true, leaseMs: LEASE_MS }, 0)).toBe(false);
  });

  // The server before may have granted the first lease after the metadata were read.
  it('waits for a lease when it was perhaps carried out by another server than the metadata are of', async () => {
    expect(await isWaiting({ isOfServer: false, leaseMs: LEASE_MS }, LEASE_MS - 1)).toBe(true);
    expect(await isWaiting({ isOfServer: false, leaseMs: LEASE_MS }, LEASE_MS + 1)).toBe(false);
  });

  it('waits for nothing in a process that knows of no lease', async () => {
    expect(await isWaiting({ isOfServer: false, leaseMs: 0 }, 0)).toBe(false);
  });
});
