import { beforeEach, describe, expect, it } from '@jest/globals';
import type { BloomEvent } from '../../src/common/index.js';
import {
  type BloomUnknownBudget,
  type LimitRule,
  LookupBudget,
  type UnjudgedCall,
} from '../../src/service/lookup-budget.js';

type Entered = ReturnType<LookupBudget['enter']>;

let events: BloomEvent[];
let now: number;
let timers: { at: number; run: () => void }[];
let budget: LookupBudget;
beforeEach(() => {
  events = [];
  now = 1000;
  timers = [];
});

function open(settings: BloomUnknownBudget, load?: LimitRule): LookupBudget {
  budget = new LookupBudget({
    ...(load && { load }),
    filter: 'products',
    settings,
    clock: { now: () => now },
    emit: (event) => events.push(event),
    rankOf: (key) => (key === 'hinted' || key === 'near' ? key : 'other'),
    later: (ms, run) => {
      const timer = { at: now + ms, run };
      timers.push(timer);
      return { ref: () => timer, unref: () => timer } as never;
    },
  });
  return budget;
}

/** Lets time pass, and timers run that are due. */
async function pass(ms: number): Promise<void> {
  const end = now + ms;
  for (;;) {
    timers.sort((one, other) => one.at - other.at);
    if (timers.length === 0 || timers[0]!.at > end) break;
    const { at, run } = timers.shift()!;
    now = Math.max(now, at);
    run();
    await new Promise(setImmediate);
  }
  now = end;
}

function running(entered: Entered): UnjudgedCall {
  if (entered === undefined || entered instanceof Promise) throw new Error('The call does not run.');
  return entered;
}

/** What became of a call that waits. */
function watched(entered: Entered): { answer: UnjudgedCall | 'waits' | 'refused' } {
  const seen: { answer: UnjudgedCall | 'waits' | 'refused' } = { answer: 'waits' };
  if (!(entered instanceof Promise)) return { answer: entered ?? 'refused' };
  void entered.then((call) => (seen.answer = call ?? 'refused'));
  return seen;
}

describe('A budget of calls that the filter cannot judge', () => {
  it('lets so many run, has others wait in their order, and refuses what is too much', async () => {
    open({ concurrent: 1, queue: 2 });
    const first = running(budget.enter(['a']));
    const second = watched(budget.enter(['b']));
    const third = watched(budget.enter(['c']));
    expect(budget.enter(['d'])).toBeUndefined();
    budget.leave(first, false);
    await pass(0);
    expect(second.answer).toMatchObject({ isCounted: true });
    expect(third.answer).toBe('waits');
    budget.leave(second.answer as UnjudgedCall, false);
    await pass(0);
    expect(third.answer).toMatchObject({ isCounted: true });
    expect(budget.metrics()).toEqual({
      limit: 1,
      running: 1,
      waiting: 0,
      isExceeded: true,
      hinted: 0,
      passed: 3,
      refused: 1,
    });
  });

  it('refuses a call that has waited for too long, and no other', async () => {
    open({ concurrent: 1, waitMs: 100 });
    budget.enter(['a']);
    const early = watched(budget.enter(['b']));
    await pass(60);
    const late = watched(budget.enter(['c']));
    await pass(60);
    expect([early.answer, late.answer]).toEqual(['refused', 'waits']);
    await pass(60);
    expect(late.answer).toBe('refused');
    expect(budget.metrics()).toMatchObject({ running: 1, waiting: 0, refused: 2 });
  });

  it('lets a hinted call run, which takes nobody’s place', () => {
    open({ concurrent: 1, queue: 0 });
    const other = running(budget.enter(['a']));
    const hinted = running(budget.enter(['hinted']));
    expect(budget.enter(['b'])).toBeUndefined();
    budget.leave(hinted, true);
    expect(budget.enter(['c'])).toBeUndefined();
    budget.leave(other, false);
    expect(budget.enter(['d'])).toMatchObject({ isCounted: true });
  });

  it('takes the worst rank of several ids', async () => {
    open({ concurrent: 1, queue: 0 });
    budget.enter(['a']);
    expect(budget.enter(['hinted', 'near'])).toBeUndefined();
    expect(budget.enter(['hinted', 'b'])).toBeUndefined();
    expect(budget.enter([])).toBeUndefined();
    expect(budget.enter(['hinted', 'hinted'])).toMatchObject({ isCounted: false });
  });

  it('prefers ids near the mark, which take the last of the others’ places in the queue', async () => {
    open({ concurrent: 1, queue: 2 });
    const first = running(budget.enter(['a']));
    const others = [watched(budget.enter(['b'])), watched(budget.enter(['c']))];
    const near = watched(budget.enter(['near']));
    await pass(0);
    expect(others.map(({ answer }) => answer)).toEqual(['waits', 'refused']);
    budget.leave(first, false);
    await pass(0);
    expect(near.answer).toMatchObject({ isCounted: true });
    expect(others[0]!.answer).toBe('waits');
    expect(watched(budget.enter(['near'])).answer).toBe('waits');
    expect(others[0]!.answer).toBe('waits');
    expect(watched(budget.enter(['near'])).answer).toBe('waits');
    await pass(0);
    expect(others[0]!.answer).toBe('refused');
    expect(budget.enter(['near'])).toBeUndefined();
  });

  it('gets the place of a method back that does not end', async () => {
    open({ concurrent: 2, queue: 0 });
    const hanging = running(budget.enter(['a']));
    await pass(5000);
    budget.enter(['b']);
    await pass(4900);
    expect(budget.enter(['c'])).toBeUndefined();
    await pass(200);
    const third = running(budget.enter(['d']));
    expect(budget.enter(['e'])).toBeUndefined();
    budget.leave(hanging, false);
    expect(budget.enter(['f'])).toBeUndefined();
    budget.leave(third, false);
    expect(budget.enter(['g'])).toMatchObject({ isCounted: true });
  });

  it('counts a call within another one with it, and not what that has left behind', async () => {
    open({ concurrent: 1, queue: 0 });
    const outer = running(budget.enter(['a']));
    const { inner, later } = budget.run(outer, () => ({
      inner: budget.enter(['b']),
      later: (async () => {
        await new Promise(setImmediate);
        await new Promise(setImmediate);
        return budget.enter(['c']);
      })(),
    }));
    expect(inner).toMatchObject({ isCounted: false });
    budget.leave(running(inner), true);
    expect(budget.enter(['d'])).toBeUndefined();
    budget.leave(outer, true);
    const next = budget.enter(['e']);
    expect(next).toMatchObject({ isCounted: true });
    expect(await later).toBeUndefined();
  });

  it('tells the load of calls that took a place and ran, and whether they found a row', () => {
    const ends: unknown[] = [];
    const rule = { limit: 2, begin: () => 0, end: () => {}, beginUnjudged: () => {} };
    open({}, { ...rule, endUnjudged: (ms, calls, isFound) => ends.push([ms, calls, isFound]) });
    const outer = running(budget.enter(['a']));
    budget.leave(running(budget.run(outer, () => budget.enter(['b']))), true);
    budget.leave(running(budget.enter(['hinted'])), true);
    budget.giveUp(running(budget.enter(['c'])));
    expect(ends).toEqual([]);
    expect(budget.metrics()).toMatchObject({ running: 1 });
    budget.leave(outer, undefined);
    budget.leave(running(budget.enter(['d'])), true);
    expect(ends).toEqual([
      [0, 1, undefined],
      [0, 1, true],
    ]);
  });

  it('reports an overload when it begins and when it ends, with its counts', async () => {
    open({ concurrent: 2, queue: 0 });
    const calls = [running(budget.enter(['a'])), running(budget.enter(['b']))];
    expect(events).toEqual([]);
    for (let i = 0; i < 100; i++) budget.enter([`c${i}`]);
    expect(events).toEqual([{ type: 'overload-started', filter: 'products', limit: 2 }]);
    await pass(4000);
    budget.enter(['d']);
    budget.leave(calls[0]!, false);
    budget.enter(['e']);
    await pass(4900);
    expect(events.length).toBe(1);
    await pass(200);
    expect(events.slice(1)).toEqual([
      { type: 'overload-ended', filter: 'products', durationMs: 4000, refused: 101, passed: 1 },
    ]);
    expect(timers).toEqual([]);
    budget.enter(['f']);
    expect(events.length).toBe(3);
  });

  it('refuses all that wait when it is closed', async () => {
    open({ concurrent: 1 });
    budget.enter(['a']);
    const waiting = [watched(budget.enter(['b'])), watched(budget.enter(['near']))];
    budget.close();
    await pass(0);
    expect(waiting.map(({ answer }) => answer)).toEqual(['refused', 'refused']);
    expect(events.map(({ type }) => type)).toEqual(['overload-started', 'overload-ended']);
    await pass(60_000);
    expect(events.length).toBe(2);
    expect(timers).toEqual([]);
  });

  it('bears a clock that stands still', async () => {
    open({ concurrent: 1, queue: 1, waitMs: 0 });
    budget.enter(['a']);
    const waiting = watched(budget.enter(['b']));
    await pass(0);
    expect(waiting.answer).toBe('refused');
  });
});
