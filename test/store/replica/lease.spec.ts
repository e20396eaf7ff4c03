import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { BloomEvent } from '../../../src/common/index.js';
import { leasesCopy, type StoredFilter } from '../../../src/store/index.js';
import { ReplicaStore } from '../../../src/store/replica/index.js';
import { idsOf } from '../../support/built-filter.js';
import { CopyableOriginal, settled } from '../../support/copyable-original.js';
import { openOptions } from '../../support/open-options.js';
import { ScriptedLeases } from '../../support/scripted-leases.js';

const IDS = idsOf('id', 200);
const LEASE_MS = 1000;
/** What a reader believes of it. */
const BELIEVED_MS = 750;
let skew: { now: number; wall: number };
let original: CopyableOriginal;
let leases: ScriptedLeases;
let events: BloomEvent[];
let filter: StoredFilter;

beforeEach(() => {
  jest.useFakeTimers();
  skew = { now: 0, wall: 0 };
  events = [];
  original = new CopyableOriginal();
  original.readsWhenAsked = true;
  original.swap(IDS);
  leases = new ScriptedLeases(original);
  original.leases = leases;
  const clock = {
    now: () => performance.now() + skew.now,
    wall: () => Date.now() + skew.wall,
    sleep: () => Promise.reject(new Error('not slept here')),
  };
  const emit = (event: BloomEvent) => void events.push(event);
  filter = new ReplicaStore(original).open(
    openOptions({ emit, clock, replica: 'leased', leaseMs: LEASE_MS }),
  );
});
afterEach(async () => {
  await filter.close();
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
});

async function load(): Promise<void> {
  await filter.describe();
  await settled();
  await original.answerAll();
  original.asked.length = 0;
}

function lease() {
  return leasesCopy(filter) ? filter.copyLease : undefined;
}

const types = () => events.map(({ type }) => type);

describe('A copy with a lease', () => {
  it('answers "absent" at once, without a question and without a promise', async () => {
    await load();
    expect(filter.checkOne('nobody')).toBe('absent');
    expect(filter.checkOne('id-1')).toBe('maybe');
    expect(await filter.check(['id-1', 'nobody', 'id-2', 'nothing'])).toEqual([
      'maybe',
      'absent',
      'maybe',
      'absent',
    ]);
    expect(await filter.check(['nobody', 'nothing'])).toEqual(['absent', 'absent']);
    expect(original.asked).toEqual([]);
    expect(events).toEqual([{ type: 'copy-leased', filter: 'products' }]);
    expect(lease()).toMatchObject({ isLeased: true, reason: undefined, behind: 0 });
  });

  it('is asked for before any block, and answers nothing before it is whole', async () => {
    leases.isHeldBack = true;
    await filter.describe();
    await settled();
    expect(leases.asked).toEqual([undefined]);
    expect(original.pieces).toEqual([]);
    leases.answer();
    await settled();
    expect(original.pieces).toHaveLength(1);
    expect(await filter.checkOne('nobody')).toBe('absent');
    expect(original.asked).toEqual([['nobody']]);
    expect(lease()).toMatchObject({ isLeased: false, reason: 'The copy is not loaded.' });
  });

  it('keeps what an entry brought before an older block arrives', async () => {
    await filter.describe();
    await settled();
    leases.add('late');
    leases.deliver();
    await original.answerAll();
    expect(filter.checkOne('late')).toBe('maybe');
    expect(filter.checkOne('nobody')).toBe('absent');
  });

  it('keeps what an entry brought when an older block of a check arrives', async () => {
    await load();
    skew.now += BELIEVED_MS;
    original.duringCheck = async () => {
      leases.add('late');
      leases.deliver();
    };
    expect(await filter.checkOne('late')).toBe('absent');
    skew.now -= BELIEVED_MS;
    expect(filter.checkOne('late')).toBe('maybe');
  });

  it('applies entries, and acknowledges them afterwards, one acknowledgement at a time', async () => {
    await load();
    leases.add('a');
    leases.add('b', 'c');
    expect(filter.checkOne('a')).toBe('absent');
    expect(leases.acknowledged).toEqual([]);
    leases.deliver();
    leases.add('d');
    leases.deliver();
    leases.add('e');
    leases.deliver();
    for (const id of ['a', 'b', 'c', 'd', 'e']) expect(filter.checkOne(id)).toBe('maybe');
    await settled();
    expect(leases.acknowledged).toEqual([
      { list: 'list-1', applied: 2 },
      { list: 'list-1', applied: 4 },
    ]);
  });

  it('acknowledges again what could not be acknowledged', async () => {
    await load();
    leases.add('a');
    leases.isDown = true;
    leases.deliver();
    await settled();
    expect(types()).toEqual(['copy-leased', 'store-error']);
    leases.isDown = false;
    await jest.advanceTimersByTimeAsync(LEASE_MS / 4);
    expect(leases.acknowledged).toEqual([{ list: 'list-1', applied: 1 }]);
  });

  it('is renewed for as long as the process runs, whatever the number of leases', async () => {
    await load();
    for (let i = 0; i < 100; i++) {
      await jest.advanceTimersByTimeAsync(LEASE_MS / 4);
      expect(filter.checkOne('nobody')).toBe('absent');
    }
    expect(leases.asked.length).toBeGreaterThan(90);
    expect(leases.asked.at(-1)).toEqual({ list: 'list-1', applied: 0 });
  });

  it('gives the lease back when it is closed', async () => {
    await load();
    const left = leases.left;
    await filter.close();
    expect(leases.left).toBeGreaterThan(left);
  });
});

describe('A lease that is not renewed', () => {
  it('ends for its reader before it ends for the server; the store is asked then', async () => {
    await load();
    leases.isHeldBack = true;
    skew.now += BELIEVED_MS - 1;
    expect(filter.checkOne('nobody')).toBe('absent');
    skew.now += 1;
    expect(await filter.checkOne('nobody')).toBe('absent');
    expect(await filter.check(['id-1', 'nobody'])).toEqual(['maybe', 'absent']);
    expect(original.asked).toEqual([['nobody'], ['nobody']]);
    expect(lease()).toMatchObject({ isLeased: false, reason: 'The lease was not renewed in time.' });
    await jest.advanceTimersByTimeAsync(LEASE_MS / 4);
    expect(types()).toEqual(['copy-leased', 'copy-unleased']);
  });

  it('counts again when it is renewed, without a load', async () => {
    await load();
    skew.now += 10 * LEASE_MS;
    expect(filter.checkOne('nobody')).not.toBe('absent');
    await jest.advanceTimersByTimeAsync(LEASE_MS / 4);
    expect(filter.checkOne('nobody')).toBe('absent');
    expect(original.pieces).toEqual([]);
    expect(types()).toEqual(['copy-leased', 'copy-unleased', 'copy-leased']);
  });

  it.each([
    ['forward, as after a suspended machine', BELIEVED_MS],
    ['back', -1],
  ])('ends when the wall clock is set %s', async (_, ms) => {
    await load();
    skew.wall += ms;
    expect(filter.checkOne('nobody')).not.toBe('absent');
  });

  it('counts from before it was asked for, however late the reply comes', async () => {
    await load();
    leases.isHeldBack = true;
    await jest.advanceTimersByTimeAsync(LEASE_MS / 4);
    skew.now += LEASE_MS;
    leases.answer();
    await settled();
    expect(filter.checkOne('nobody')).not.toBe('absent');
  });

  it('counts when all entries up to the number in the reply have been applied', async () => {
    await load();
    skew.now += LEASE_MS;
    leases.add('a');
    await jest.advanceTimersByTimeAsync(LEASE_MS / 4);
    expect(await filter.checkOne('nobody')).toBe('absent');
    expect(original.asked).toEqual([['nobody']]);
    expect(lease()).toMatchObject({ isLeased: false, behind: 1 });
    leases.deliver();
    expect(filter.checkOne('nobody')).toBe('absent');
    expect(filter.checkOne('a')).toBe('maybe');
  });

  it('is not renewed while entries do not arrive, so that adds wait once and not each time', async () => {
    await load();
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
    await load();
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
    await load();
    leases.add('a');
    leases.undelivered = [];
    leases.add('b');
    leases.deliver();
    await isUnleased('The feed of adds lacks entries that this copy has not applied.');
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
    await load();
    leases.list = 'list-2';
    await meet();
    await isUnleased('The server has another list of readers.');
    await jest.advanceTimersByTimeAsync(LEASE_MS / 2);
    await original.answerAll();
    expect(filter.checkOne('nobody')).toBe('absent');
  });

  it.each([
    ['an entry', async () => leases.deliver()],
    ['a renewal', () => jest.advanceTimersByTimeAsync(LEASE_MS / 4)],
  ])('ends when %s shows another generation, which is followed', async (_, meet) => {
    await load();
    leases.swap(['new']);
    await meet();
    await isUnleased('Another generation went live.');
    await settled();
    await original.answerAll();
    expect(filter.checkOne('new')).toBe('maybe');
    expect(filter.checkOne('id-1')).toBe('absent');
    expect(types().at(-1)).toBe('copy-leased');
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
    await load();
    leases.refusal = { outcome: 'not-live' };
    await jest.advanceTimersByTimeAsync(LEASE_MS / 4);
    expect(filter.checkOne('nobody')).not.toBe('absent');
  });

  it('goes on as verified where there is no lease to be had, says so once, and asks again', async () => {
    leases.refusal = { outcome: 'refused', reason: 'INFO may not be run.' };
    await load();
    expect(await filter.checkOne('nobody')).toBe('absent');
    expect(filter.checkOne('id-1')).toBe('maybe');
    expect(original.asked).toEqual([['nobody']]);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(types()).toEqual(['advice']);
    expect(lease()).toMatchObject({ isLeased: false, reason: 'INFO may not be run.' });
    expect(leases.asked.length).toBeLessThan(8);
    leases.refusal = undefined;
    await jest.advanceTimersByTimeAsync(60_000);
    await original.answerAll();
    expect(filter.checkOne('nobody')).toBe('absent');
  });
});

describe('What this process adds', () => {
  it('is in its copy before the store has it', async () => {
    await load();
    const seen: unknown[] = [];
    original.duringAdd = async () => void seen.push(filter.checkOne('mine'));
    await filter.add(['mine']);
    expect(seen).toEqual(['maybe']);
  });

  it('is in a copy that is made and loaded while the add is on its way', async () => {
    await load();
    let arrive = () => {};
    original.duringAdd = () => new Promise((resolve) => (arrive = resolve));
    const added = filter.add(['mine']);
    leases.swap(['new']);
    leases.deliver();
    await settled();
    await original.answerAll();
    expect(filter.checkOne('nobody')).toBe('absent');
    expect(filter.checkOne('mine')).toBe('maybe');
    arrive();
    await added;
  });
});
