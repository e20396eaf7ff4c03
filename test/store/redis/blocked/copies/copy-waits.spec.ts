import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { BlockedSnapshot } from '../../../../../src/store/redis/blocked/blocked-meta.js';
import type { ChannelListener } from '../../../../../src/store/redis/client/channel-reader.js';
import {
  CopyWaits,
  type CopyWaitsContext,
} from '../../../../../src/store/redis/blocked/copies/copy-waits.js';

const LEASE_MS = 1000;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/**
 * Whether an add waits whose script found metadata that know of no lease, of which the wait for leases nobody
 * has seen is over.
 */
async function isWaiting({ isOfServer, leaseMs }: { isOfServer: boolean; leaseMs: number }, ms: number) {
  const context = {
    name: 'f',
    emit: () => {},
    keys: { acks: 'acks' },
    metadata: { isOfServer: () => isOfServer },
    lostLeases: { leaseMs },
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

/** An add that waits for readers to acknowledge entry 5 of a list, which no question shows. */
function waitingAdd(runId = 'run') {
  let listener: ChannelListener | undefined;
  const context = {
    name: 'f',
    emit: () => {},
    keys: { acks: 'acks' },
    metadata: { isOfServer: () => true },
    lostLeases: { leaseMs: LEASE_MS },
    copyScripts: { acknowledged: async () => 'LIST' },
    channels: { listen: (_: string, one: ChannelListener) => (listener = one), stop() {}, keep() {} },
  };
  const waits = new CopyWaits(context as unknown as CopyWaitsContext);
  const add = async (number: number) => {
    let isOver = false;
    const wait = { for: 'readers', ms: LEASE_MS, list: 'list', number } as const;
    const added = waits.settleAdd({ leasesMs: LEASE_MS, unseenUntil: 0, runId } as BlockedSnapshot, wait);
    void added.then(() => (isOver = true));
    await jest.advanceTimersByTimeAsync(0);
    return async (ms = 0) => {
      await jest.advanceTimersByTimeAsync(ms);
      return !isOver;
    };
  };
  const hear = (run: string, ...messages: string[]) => {
    listener!.onHeard(run);
    for (const message of messages) listener!.onMessage(Buffer.from(message));
  };
  return { add, hear };
}

describe('An add that waits for readers', () => {
  it('ends with a message of the server that has carried it out', async () => {
    const { add, hear } = waitingAdd();
    const isWaiting = await add(5);
    hear('run', 'list 4');
    expect(await isWaiting()).toBe(true);
    hear('run', 'list 5');
    expect(await isWaiting()).toBe(false);
  });

  it('does not end with what another server says, or one that does not say which it is', async () => {
    for (const runId of ['run', '']) {
      const { add, hear } = waitingAdd(runId);
      const isWaiting = await add(5);
      hear('other', 'list 5');
      hear('', 'list 5');
      expect(await isWaiting(LEASE_MS - 1)).toBe(true);
      const isWaitingLater = await add(5);
      expect(await isWaitingLater(0)).toBe(true);
      expect(await isWaiting(1)).toBe(false);
    }
  });

  it('does not wait for what was told before it, whatever came since', async () => {
    const { add, hear } = waitingAdd();
    const isWaiting = await add(5);
    hear('run', 'list 7', 'list 6');
    hear('', 'list 1');
    expect(await isWaiting()).toBe(false);
    expect(await (await add(7))()).toBe(false);
    expect(await (await add(8))()).toBe(true);
  });
});
