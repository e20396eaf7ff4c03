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

describe('A copy with a lease', () => {
  it('answers "absent" at once, without a question and without a promise', async () => {
    await copy.load();
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
    expect(copy.lease).toMatchObject({ isLeased: true, reason: undefined, behind: 0 });
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
    expect(copy.lease).toMatchObject({ isLeased: false, reason: 'The copy is not loaded.' });
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
    await copy.load();
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
    await copy.load();
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
    await copy.load();
    leases.add('a');
    leases.isDown = true;
    leases.deliver();
    await settled();
    expect(copy.types).toEqual(['copy-leased', 'store-error']);
    leases.isDown = false;
    await jest.advanceTimersByTimeAsync(LEASE_MS / 4);
    expect(leases.acknowledged).toEqual([{ list: 'list-1', applied: 1 }]);
  });

  it('is renewed for as long as the process runs, whatever the number of leases', async () => {
    await copy.load();
    for (let i = 0; i < 100; i++) {
      await jest.advanceTimersByTimeAsync(LEASE_MS / 4);
      expect(filter.checkOne('nobody')).toBe('absent');
    }
    expect(leases.asked.length).toBeGreaterThan(90);
    expect(leases.asked.at(-1)).toEqual({ list: 'list-1', applied: 0 });
  });

  it('gives the lease back when it is closed', async () => {
    await copy.load();
    const left = leases.left;
    await filter.close();
    expect(leases.left).toBeGreaterThan(left);
  });
});

describe('What this process adds', () => {
  it('is in its copy before the store has it', async () => {
    await copy.load();
    const seen: unknown[] = [];
    original.duringAdd = async () => void seen.push(filter.checkOne('mine'));
    await filter.add(['mine']);
    expect(seen).toEqual(['maybe']);
  });

  it('is in a copy that is made and loaded while the add is on its way', async () => {
    await copy.load();
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
