import { beforeEach, describe, expect, it } from '@jest/globals';
import type { GatedInstance, Held } from '../gated-instance.js';
import { LeasedTime } from './leased-time.js';

const PLAN = { leaseMs: 100, isTrusted: false, lateReplies: 0 };

describe('Time in schedules of leased copies', () => {
  let instance: GatedInstance;
  let time: LeasedTime;

  beforeEach(() => {
    instance = { index: 0, held: [] as Held[], intervals: [], isAlive: true, weight: 1 } as never;
    time = new LeasedTime(PLAN, 1, [instance], 1);
  });

  it('holds a timer until the clock of its process shows it, and leaps there', () => {
    time.onTimeout(instance, () => {}, 1_000);
    const [held] = instance.held;
    const leaps: number[] = [];
    const labels = time.leaps((ms) => (leaps.push(ms), (() => {}) as never)).map(({ label }) => label);
    expect(labels).toEqual(['time some', 'time lease', 'time next']);
    time.now = leaps[2]! - 1;
    expect(held!.isDue()).toBe(false);
    time.now = leaps[2]! + 1e-6;
    expect(held!.isDue()).toBe(true);
  });

  it('forgets a timer that is cleared', () => {
    time.onTimeout(instance, () => {}, 1_000).clear();
    expect(instance.held).toEqual([]);
  });

  it('counts the time of a suspended machine by the wall clock alone', () => {
    const before = { monotonic: time.nowOf(instance), wall: time.wallOf(instance) };
    time.now = 1_000;
    time.clocks.standStill(0, 1_000);
    expect(time.nowOf(instance)).toBeCloseTo(before.monotonic);
    expect(time.wallOf(instance)).toBeGreaterThan(before.wall + 900);
  });

  it('answers a blocking read when something was written, or its time is over', () => {
    const [first, second] = [time.heldFeedRead(instance), time.heldFeedRead(instance)];
    expect(first.isDue()).toBe(false);
    time.wrote();
    expect(second.isDue()).toBe(true);
    const third = time.heldFeedRead(instance);
    expect(third.isDue()).toBe(false);
    time.now += 200;
    expect(third.isDue()).toBe(true);
  });

  it('fires an interval once each time that its length has passed', () => {
    time.onInterval(instance, () => {}, 50);
    const due = () => time.intervalActions(instance, () => () => ({ send: [], deliver() {} }));
    expect(due()).toEqual([]);
    time.now = 60;
    const [action] = due();
    action!.step();
    expect(due()).toEqual([]);
  });
});
