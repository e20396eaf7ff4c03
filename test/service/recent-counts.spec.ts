import { describe, expect, it, jest } from '@jest/globals';
import { RecentCounts } from '../../src/service/filter-counts.js';

/** A clock that stands still until it is set. */
class SetClock {
  at = 1_000_000;
  readonly now = () => this.at;
  private timers: { readonly at: number; readonly run: () => void }[] = [];

  readonly later = (ms: number, run: () => void): void => {
    this.timers.push({ at: this.at + ms, run });
  };

  pass(ms: number): void {
    this.at += ms;
    const due = this.timers.filter(({ at }) => at <= this.at);
    this.timers = this.timers.filter(({ at }) => at > this.at);
    for (const { run } of due) run();
  }
}

describe('RecentCounts', () => {
  it('say nothing before the first minute has passed', () => {
    const clock = new SetClock();
    const recent = new RecentCounts(clock);
    recent.recordAbsent();
    clock.pass(59_999);
    expect(recent.snapshot()).toBeUndefined();
    clock.pass(1);
    expect(recent.snapshot()).toEqual({
      windowMs: 60_000,
      absent: 1,
      foundNothing: 0,
      letThroughRate: 0,
    });
  });

  it('give the share that was let through, and none while there was nothing', () => {
    const clock = new SetClock();
    const recent = new RecentCounts(clock);
    clock.pass(61_000);
    expect(recent.snapshot()).toMatchObject({ absent: 0, foundNothing: 0, letThroughRate: undefined });
    for (let i = 0; i < 9; i++) recent.recordAbsent();
    recent.recordFoundNothing();
    expect(recent.snapshot()).toMatchObject({ absent: 9, foundNothing: 1, letThroughRate: 0.1 });
  });

  it('forget what is older than five minutes', () => {
    const clock = new SetClock();
    const recent = new RecentCounts(clock);
    recent.recordAbsent();
    clock.pass(290_000);
    recent.recordAbsent();
    expect(recent.snapshot()).toMatchObject({ windowMs: 290_000, absent: 2 });
    clock.pass(30_000);
    const { windowMs, absent } = recent.snapshot()!;
    expect(absent).toBe(1);
    expect(windowMs).toBeGreaterThanOrEqual(300_000);
    expect(windowMs).toBeLessThan(315_000);
    clock.pass(301_000);
    expect(recent.snapshot()).toMatchObject({ absent: 0, foundNothing: 0 });
  });

  it('forget also when nothing came for hours, and count on', () => {
    const clock = new SetClock();
    const recent = new RecentCounts(clock);
    for (let i = 0; i < 30; i++) {
      recent.recordFoundNothing();
      clock.pass(10_000);
    }
    clock.pass(7 * 3_600_000);
    recent.recordFoundNothing();
    expect(recent.snapshot()).toMatchObject({ absent: 0, foundNothing: 1, letThroughRate: 1 });
  });

  it('agree with a list of all moments, whatever the pauses are', () => {
    const clock = new SetClock();
    const recent = new RecentCounts(clock);
    const moments: number[] = [];
    for (let i = 1; i < 400; i++) {
      clock.pass((i * 7919) % 40_000);
      recent.recordAbsent();
      moments.push(clock.at);
      const seen = recent.snapshot();
      if (!seen) continue;
      const since = clock.at - seen.windowMs;
      expect(seen.absent).toBe(moments.filter((at) => at >= since).length);
    }
  });

  it('end a bucket by a timer, and read the clock once for all that fall into it', () => {
    jest.useFakeTimers();
    try {
      let reads = 0;
      let at = 0;
      const recent = new RecentCounts({ now: () => (reads++, at) });
      const before = reads;
      for (let i = 0; i < 1000; i++) recent.recordAbsent();
      expect(reads - before).toBe(1);
      at = 15_000;
      jest.advanceTimersByTime(15_000);
      recent.recordAbsent();
      at = 310_000;
      expect(recent.snapshot()).toMatchObject({ absent: 1 + 1000 });
      at = 316_000;
      expect(recent.snapshot()).toMatchObject({ absent: 1 });
    } finally {
      jest.useRealTimers();
    }
  });
});
