import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { settled } from '../../support/copyable-original.js';
import { BELIEVED_MS, LEASE_MS, LeasedCopy } from '../../support/leased-copy.js';

let copy: LeasedCopy;
let skew: LeasedCopy['skew'];
let original: LeasedCopy['original'];
let leases: LeasedCopy['leases'];
let events: LeasedCopy['events'];
let filter: LeasedCopy['filter'];

beforeEach(() => {
  jest.useFakeTimers();
  copy = new LeasedCopy();
  ({ skew, original, leases, events, filter } = copy);
});
afterEach(async () => {
  await copy.filter.close();
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
});

describe('A lease that is not renewed', () => {
  it('ends for its reader before it ends for the server; the store is asked then', async () => {
    await copy.load();
    leases.isHeldBack = true;
    skew.now += BELIEVED_MS - 1;
    expect(filter.checkOne('nobody')).toBe('absent');
    skew.now += 1;
    expect(await filter.checkOne('nobody')).toBe('absent');
    expect(await filter.check(['id-1', 'nobody'])).toEqual(['maybe', 'absent']);
    expect(original.asked).toEqual([['nobody'], ['nobody']]);
    expect(copy.lease).toMatchObject({ isLeased: false, reason: 'The lease was not renewed in time.' });
    await jest.advanceTimersByTimeAsync(LEASE_MS / 4);
    expect(copy.types).toEqual(['copy-leased', 'copy-unleased']);
  });

  it('counts again when it is renewed, without a load', async () => {
    await copy.load();
    skew.now += 10 * LEASE_MS;
    expect(filter.checkOne('nobody')).not.toBe('absent');
    await jest.advanceTimersByTimeAsync(LEASE_MS / 4);
    expect(filter.checkOne('nobody')).toBe('absent');
    expect(original.pieces).toEqual([]);
    expect(copy.types).toEqual(['copy-leased', 'copy-unleased', 'copy-leased']);
  });

  it.each([
    ['forward, as after a suspended machine', BELIEVED_MS],
    ['back', -1],
  ])('ends when the wall clock is set %s', async (_, ms) => {
    await copy.load();
    skew.wall += ms;
    expect(filter.checkOne('nobody')).not.toBe('absent');
  });

  it('counts from before it was asked for, however late the reply comes', async () => {
    await copy.load();
    leases.isHeldBack = true;
    await jest.advanceTimersByTimeAsync(LEASE_MS / 4);
    skew.now += LEASE_MS;
    leases.answer();
    await settled();
    expect(filter.checkOne('nobody')).not.toBe('absent');
  });

  it('counts when all entries up to the number in the reply have been applied', async () => {
    await copy.load();
    skew.now += LEASE_MS;
    leases.add('a');
    await jest.advanceTimersByTimeAsync(LEASE_MS / 4);
    expect(await filter.checkOne('nobody')).toBe('absent');
    expect(original.asked).toEqual([['nobody']]);
    expect(copy.lease).toMatchObject({ isLeased: false, behind: 1 });
    leases.deliver();
    expect(filter.checkOne('nobody')).toBe('absent');
    expect(filter.checkOne('a')).toBe('maybe');
  });

  it('is not renewed while entries do not arrive, so that adds wait once and not each time', async () => {
    await copy.load();
    leases.add('a');
    await jest.advanceTimersByTimeAsync(LEASE_MS / 4);
    const { length } = leases.asked;
    await jest.advanceTimersByTimeAsync(8 * LEASE_MS);
    expect(leases.asked).toHaveLength(length);
    await jest.advanceTimersByTimeAsync(3 * LEASE_MS);
    expect(events).toContainEqual({
      type: 'copy-unleased',
      filter: 'products',
      reason: 'The lease was not renewed in time.',
    });
    leases.undelivered = [];
    await original.answerAll();
    expect(filter.checkOne('a')).toBe('maybe');
    expect(filter.checkOne('nobody')).toBe('absent');
  });

  it('is asked for again while the store is down, and reported', async () => {
    await copy.load();
    leases.isDown = true;
    await jest.advanceTimersByTimeAsync(10 * LEASE_MS);
    const failures = events.filter(({ type }) => type === 'store-error').length;
    expect(failures).toBeGreaterThan(3);
    expect(failures).toBeLessThan(12);
    leases.isDown = false;
    await jest.advanceTimersByTimeAsync(2 * LEASE_MS);
    expect(filter.checkOne('nobody')).toBe('absent');
    expect(original.pieces).toEqual([]);
  });
});

describe('A copy that lacks something', () => {
  async function isUnleased(reason: string): Promise<void> {
    expect(filter.checkOne('nobody')).not.toBe('absent');
    expect(events).toContainEqual({ type: 'copy-unleased', filter: 'products', reason });
    expect(leases.left).toBeGreaterThan(0);
    // What it has is good for "maybe".
    expect(filter.checkOne('id-1')).toBe('maybe');
  }

  it('is loaded again when entries are missing', async () => {
    await copy.load();
    leases.add('a');
    leases.undelivered = [];
    leases.add('b');
    leases.deliver();
    await isUnleased('The copy has missed adds of others, and is loaded again.');
    await jest.advanceTimersByTimeAsync(LEASE_MS / 2);
    expect(await original.answerAll()).toBeGreaterThan(0);
    expect(filter.checkOne('a')).toBe('maybe');
    expect(filter.checkOne('nobody')).toBe('absent');
    expect(leases.asked.slice(1)).toContain(undefined);
  });

  it.each([
    ['an entry', async () => (leases.add('a'), leases.deliver())],
    ['a renewal', () => jest.advanceTimersByTimeAsync(LEASE_MS / 4)],
  ])('is loaded again when %s shows another list of readers', async (_, meet) => {
    await copy.load();
    leases.list = 'list-2';
    await meet();
    await isUnleased('Redis has lost track of this process (failover or flush). The copy is loaded again.');
    await jest.advanceTimersByTimeAsync(LEASE_MS / 2);
    await original.answerAll();
    expect(filter.checkOne('nobody')).toBe('absent');
  });

  it.each([
    ['an entry', async () => leases.deliver()],
    ['a renewal', () => jest.advanceTimersByTimeAsync(LEASE_MS / 4)],
  ])('ends when %s shows another generation, which is followed', async (_, meet) => {
    await copy.load();
    leases.swap(['new']);
    await meet();
    await isUnleased('A new build went live, and the copy is loaded again.');
    await settled();
    await original.answerAll();
    expect(filter.checkOne('new')).toBe('maybe');
    expect(filter.checkOne('id-1')).toBe('absent');
    expect(copy.types.at(-1)).toBe('copy-leased');
  });

  it('is asked for twice before it is given up, since what the process knew of the filter may have been old', async () => {
    leases.refusal = { outcome: 'not-live' };
    await filter.describe();
    leases.refusal = undefined;
    await settled();
    await original.answerAll();
    expect(leases.asked.slice(0, 2)).toEqual([undefined, undefined]);
    expect(filter.checkOne('nobody')).toBe('absent');
  });

  it('ends when nothing is live', async () => {
    await copy.load();
    leases.refusal = { outcome: 'not-live' };
    await jest.advanceTimersByTimeAsync(LEASE_MS / 4);
    expect(filter.checkOne('nobody')).not.toBe('absent');
  });

  it('goes on as verified where there is no lease to be had, says so once, and asks again', async () => {
    leases.refusal = { outcome: 'refused', reason: 'INFO may not be run.' };
    await copy.load();
    expect(await filter.checkOne('nobody')).toBe('absent');
    expect(filter.checkOne('id-1')).toBe('maybe');
    expect(original.asked).toEqual([['nobody']]);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(copy.types).toEqual(['advice']);
    expect(copy.lease).toMatchObject({ isLeased: false, reason: 'INFO may not be run.' });
    expect(leases.asked.length).toBeLessThan(8);
    leases.refusal = undefined;
    await jest.advanceTimersByTimeAsync(60_000);
    await original.answerAll();
    expect(filter.checkOne('nobody')).toBe('absent');
  });
});
