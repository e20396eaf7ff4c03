import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { idsOf } from '../../support/built-filter.js';
import { settled } from '../../support/copyable-original.js';
import { LEASE_MS, LeasedCopy } from '../../support/leased-copy.js';

const STAGED = idsOf('staged', 200);

let copy: LeasedCopy;
beforeEach(async () => {
  jest.useFakeTimers();
  copy = new LeasedCopy();
  await copy.load();
});
afterEach(async () => {
  await copy.filter.close();
  jest.useRealTimers();
});

const renew = () => jest.advanceTimersByTimeAsync(LEASE_MS / 4);

async function announced(): Promise<void> {
  const { original, leases } = copy;
  original.stage(STAGED);
  leases.isAnnounced = true;
  await renew();
  await original.answerAll();
}

describe('A copy of an announced staging', () => {
  it('takes the place of the one before when it goes live, under the same lease', async () => {
    const { filter, leases, original } = copy;
    await announced();
    expect(leases.copied).toEqual([original.staging!.generation.tag]);
    leases.goLive();
    leases.deliver();
    expect(filter.checkOne('staged-1')).toBe('maybe');
    expect(filter.checkOne('id-1')).toBe('absent');
    expect(copy.types).toEqual(['copy-leased']);
  });

  it('keeps its lease when a reply to a renewal arrives that is older than the swap', async () => {
    const { filter, leases } = copy;
    await announced();
    leases.isHeldBack = true;
    await renew();
    leases.goLive();
    leases.deliver();
    leases.answer();
    await settled();
    expect(filter.checkOne('nobody')).toBe('absent');
    expect(copy.types).toEqual(['copy-leased']);
  });

  it('keeps its lease when descriptions are newer than the entry of the swap, or older', async () => {
    const { filter, leases, original } = copy;
    const before = original.live;
    await announced();
    leases.goLive();
    await filter.describe();
    expect(filter.checkOne('nobody')).toBe('absent');
    leases.deliver();
    original.live = before;
    await filter.describe();
    expect(filter.checkOne('nobody')).toBe('absent');
    expect(filter.checkOne('staged-1')).toBe('maybe');
    expect(copy.types).toEqual(['copy-leased']);
  });

  it('has the ids of adds that are on their way when it goes live', async () => {
    const { filter, leases, original } = copy;
    await announced();
    let end = () => {};
    original.duringAdd = () => new Promise((resolve) => (end = resolve));
    const added = filter.add(['late']);
    leases.goLive();
    leases.deliver();
    // The store takes the add for acknowledged by the reader of this process.
    expect(filter.checkOne('late')).toBe('maybe');
    expect(filter.checkOne('nobody')).toBe('absent');
    end();
    await added;
  });

  it('reports nothing of a block that could not be read when nobody wants it any more', async () => {
    const { filter, leases, original } = copy;
    original.stage(STAGED);
    leases.isAnnounced = true;
    await renew();
    const [piece] = original.pieces;
    await filter.close();
    piece!.answer(new Error('closed'));
    await settled();
    expect(copy.types).not.toContain('store-error');
  });

  it('is reported to the rebuild that waits for it with the next renewal, if that failed before', async () => {
    const { leases, original } = copy;
    original.stage(STAGED);
    leases.isAnnounced = true;
    await renew();
    leases.isDown = true;
    await original.answerAll();
    expect(leases.copied).toEqual([]);
    expect(copy.types).toContain('store-error');
    leases.isDown = false;
    await renew();
    await renew();
    expect(leases.copied).toEqual([original.staging!.generation.tag]);
  });

  it('goes live only if it was read from one server', async () => {
    const { filter, leases, original } = copy;
    original.stage(STAGED);
    leases.isAnnounced = true;
    await renew();
    leases.server = 'server-2';
    await original.answerAll();
    leases.goLive();
    leases.deliver();
    expect(filter.checkOne('nobody')).not.toBe('absent');
  });
});

describe('A copy', () => {
  it('is leased again when it was loaded while the server changed', async () => {
    const other = new LeasedCopy();
    const { filter, leases, original } = other;
    await filter.describe();
    await settled();
    leases.server = 'server-2';
    await original.answerAll();
    expect(filter.checkOne('nobody')).not.toBe('absent');
    await jest.advanceTimersByTimeAsync(LEASE_MS);
    await original.answerAll();
    expect(filter.checkOne('nobody')).toBe('absent');
    await filter.close();
  });
});
