import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { BloomUnavailableError, type BloomEvent } from '../../../src/common/index.js';
import { BLOCK_BYTES } from '../../../src/filter/index.js';
import type { StoredFilter, BloomReplicaMode } from '../../../src/store/index.js';
import { LocalCopyStore } from '../../../src/store/local-copy/index.js';
import { idsOf } from '../../support/built-filter.js';
import { CopyableOriginal, settled } from '../../support/copyable-original.js';
import { openOptions } from '../../support/open-options.js';

const IDS = idsOf('id', 200);
let now: number;
let original: CopyableOriginal;
let events: BloomEvent[];
let filter: StoredFilter;

function open(replica?: BloomReplicaMode): StoredFilter {
  const clock = { now: () => now, wall: () => now, sleep: () => Promise.reject(new Error('not slept here')) };
  return new LocalCopyStore(original).open(
    openOptions({ emit: (event) => events.push(event), clock, replica }),
  );
}

beforeEach(() => {
  jest.useFakeTimers();
  now = 0;
  events = [];
  original = new CopyableOriginal();
  original.swap(IDS);
  filter = open();
});
afterEach(async () => {
  await filter.close();
  jest.useRealTimers();
});

async function load(): Promise<void> {
  await filter.check(['id-0']);
  await original.answerAll();
  original.asked.length = 0;
}

describe('The copy of a filter', () => {
  it('is loaded in pieces of 60 KiB, one at a time, after the first lookup', async () => {
    expect(original.pieces).toEqual([]);
    await filter.check(['id-0']);
    await settled();
    expect(original.pieces.map(({ first }) => first)).toEqual([0]);
    original.pieces.shift()!.answer();
    await settled();
    expect(original.pieces.map(({ first }) => first)).toEqual([241]);
    expect(await original.answerAll()).toBe(Math.ceil(original.live!.generation.blocks / 241) - 1);
  });

  it('is loaded in pieces that end with their group', async () => {
    original.swap(IDS, 700_000);
    await filter.check(['id-0']);
    await settled();
    const firsts: number[] = [];
    while (original.pieces.length > 0) {
      const { first, answer } = original.pieces.shift()!;
      firsts.push(first);
      answer();
      await settled();
    }
    expect(firsts.slice(15, 19)).toEqual([15 * 241, 16 * 241, 4096, 4096 + 241]);
    original.asked.length = 0;
    expect(await filter.check(IDS)).toEqual(IDS.map(() => 'maybe'));
    expect(original.asked).toEqual([]);
  });

  it('answers nothing before it is whole', async () => {
    await filter.check(['id-0']);
    while (original.pieces.length > 0) {
      original.asked.length = 0;
      await filter.check(['id-1']);
      expect(original.asked).toEqual([['id-1']]);
      original.pieces.shift()!.answer();
      await settled();
    }
    original.asked.length = 0;
    expect(await filter.check(IDS)).toEqual(IDS.map(() => 'maybe'));
    expect(original.asked).toEqual([]);
  });

  it('keeps what this process adds while it is being loaded', async () => {
    await filter.check(['id-0']);
    original.pieces.shift()!.answer();
    await settled();
    await filter.add(idsOf('late', 50));
    await original.answerAll();
    original.asked.length = 0;
    await filter.check(idsOf('late', 50));
    expect(original.asked).toEqual([]);
  });

  it('never mixes two generations: a swap while it is loaded starts it again', async () => {
    await filter.check(['id-0']);
    original.pieces.shift()!.answer();
    await settled();
    original.swap(['new']);
    await original.answerAll();
    expect(await filter.check(['id-1', 'new'])).toEqual(['absent', 'maybe']);
    await original.answerAll();
    expect(await filter.check(IDS.slice(0, 20))).toEqual(IDS.slice(0, 20).map(() => 'absent'));
    original.asked.length = 0;
    expect(await filter.check(['new'])).toEqual(['maybe']);
    expect(original.asked).toEqual([]);
    expect(events).toEqual([]);
  });

  it('gives one answer from one generation when a swap comes in the middle of it', async () => {
    await load();
    original.swap(['new']);
    expect(await filter.check(['id-1', 'x', 'new'])).toEqual(['absent', 'absent', 'maybe']);
  });

  it('is compared with the description when it alone has answered for a while', async () => {
    await load();
    original.swap(['new']);
    expect(await filter.check(['id-1'])).toEqual(['maybe']);
    await jest.advanceTimersByTimeAsync(20_000);
    expect(original.describes).toBe(1);
    await original.answerAll();
    expect(await filter.check(['id-1'])).toEqual(['absent']);
  });

  it('is not compared when nobody asks, or when confirmations have shown that it is live', async () => {
    await load();
    await jest.advanceTimersByTimeAsync(60_000);
    await filter.check(['id-1']);
    await filter.check(['x']);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(original.describes).toBe(0);
  });

  it('is dropped when the filter is found out of service', async () => {
    await load();
    original.live = undefined;
    await filter.check(['id-1']);
    await jest.advanceTimersByTimeAsync(20_000);
    expect(await filter.check(['id-1'])).toEqual(['unknown']);
  });

  it('is dropped when the filter is distrusted', async () => {
    await load();
    await filter.distrust('a reason');
    await filter.check(['id-1']);
    expect(original.asked).toEqual([['id-1']]);
  });

  it('that cannot be loaded is told, done without, and tried again later', async () => {
    await filter.check(['id-0']);
    original.pieces.shift()!.answer(new BloomUnavailableError('no'));
    await settled();
    expect(events).toMatchObject([
      { type: 'store-error', filter: 'products', operation: 'load the local copy' },
    ]);
    expect(await filter.check(['id-0', 'x'])).toEqual(['maybe', 'absent']);
    expect(original.pieces).toEqual([]);
    now += 1000;
    await filter.check(['id-0']);
    original.pieces.shift()!.answer(new BloomUnavailableError('no'));
    await settled();
    now += 1000;
    await filter.check(['id-0']);
    expect(original.pieces).toEqual([]);
    now += 1000;
    await load();
    await filter.check(['id-0']);
    expect(original.asked).toEqual([]);
  });

  it('of a filter with a damaged block is not loaded again and again', async () => {
    original.live!.bytes.fill(0, 256 * BLOCK_BYTES, 257 * BLOCK_BYTES);
    await filter.check(['id-0']);
    expect(await original.answerAll()).toBe(2);
    for (let i = 0; i < 10; i++) await filter.check(['id-0']);
    expect(original.pieces).toEqual([]);
  });

  it('takes no block of another generation from a confirmation', async () => {
    await load();
    const before = original.live!;
    original.duringCheck = async () => {
      // The reply on the way is of the old generation, the blocks are not.
      before.bytes.fill(7);
    };
    await filter.check(['x']);
    original.asked.length = 0;
    await filter.check(IDS);
    expect(original.asked).toEqual([]);
  });
});

describe('A copy is kept', () => {
  it('of filters up to 64 MiB', async () => {
    original.swap([], 18_000_000);
    expect(original.live!.bytes.length).toBeGreaterThan(64 * 1024 * 1024);
    await filter.check(['x']);
    expect(original.pieces).toEqual([]);
    original.swap([], 16_000_000);
    expect(original.live!.bytes.length).toBeLessThan(64 * 1024 * 1024);
    await filter.check(['x']);
    expect(original.pieces).toHaveLength(1);
  });

  it('of a larger one when it is asked for, and of none when it is off', async () => {
    original.swap([], 18_000_000);
    filter = open('verified');
    await filter.check(['x']);
    expect(original.pieces).toHaveLength(1);
    original.pieces.length = 0;
    filter = open('off');
    await filter.check(['x']);
    expect(original.pieces).toEqual([]);
  });

  it('no longer when the filter is closed', async () => {
    await load();
    await filter.close();
    expect(jest.getTimerCount()).toBe(0);
    await filter.check(['id-1']);
    expect(original.asked).toHaveLength(1);
    expect(original.pieces).toEqual([]);
  });
});
