import { beforeEach, describe, expect, it } from '@jest/globals';
import { UsualLoad } from '../../src/service/usual-load.js';

const clock = { at: 0, now: () => clock.at };
let load: UsualLoad;
beforeEach(() => {
  clock.at = 1000;
  load = new UsualLoad(clock);
});

/** So many calls that each find as many others running, and take as long. */
function judge(calls: number, { running, ms = 5 }: { running: number; ms?: number }): void {
  const begun = Array.from({ length: running }, () => load.begin());
  for (let i = 0; i < calls; i++) {
    const startedAt = load.begin();
    clock.at += ms;
    load.end(startedAt);
  }
  for (const startedAt of begun) load.end(startedAt);
}

function unjudged(
  calls: number,
  {
    ms = 5,
    running = 4,
    isFound = false,
  }: { ms?: number; running?: number; isFound?: boolean | 'unclear' } = {},
): void {
  for (let i = 0; i < calls; i++) {
    load.beginUnjudged();
    load.endUnjudged(ms, running, isFound === 'unclear' ? undefined : isFound);
  }
}

describe('The limit of calls that the filter cannot judge', () => {
  it('is the ceiling where the filter has never judged', () => {
    expect(load.limit).toBe(1000);
  });

  it('is three times the calls that usually run, and four at least', () => {
    judge(256, { running: 0 });
    expect(load.limit).toBe(4);
    judge(256, { running: 10 });
    expect(load.limit).toBeGreaterThanOrEqual(29);
    expect(load.limit).toBeLessThan(33);
  });

  it('keeps what was usual, and forgets it by half in half an hour', () => {
    judge(256, { running: 20 });
    const { limit } = load;
    judge(64, { running: 0 });
    expect(load.limit).toBeGreaterThan(0.99 * limit);
    clock.at += 30 * 60_000;
    judge(128, { running: 0 });
    expect(load.limit / limit).toBeCloseTo(0.5, 1);
  });

  it('learns nothing while many calls are unjudged', () => {
    judge(256, { running: 1 });
    const { limit } = load;
    for (let i = 0; i < 20; i++) {
      unjudged(32);
      judge(32, { running: 50, ms: 500 });
    }
    expect(load.limit).toBe(limit);
  });

  it('learns on while few of them are', () => {
    for (let i = 0; i < 8; i++) {
      unjudged(4);
      judge(64, { running: 9 });
    }
    expect(load.limit).toBeGreaterThan(25);
    expect(load.limit).toBeLessThan(33);
  });

  it('shrinks to one while methods are slow, and to three times the usual where that is more', () => {
    judge(256, { running: 0 });
    unjudged(200, { ms: 100 });
    expect(load.limit).toBe(1);
    unjudged(200);
    expect(load.limit).toBe(4);
    judge(256, { running: 10 });
    unjudged(200, { ms: 100, running: 30 });
    expect(load.limit).toBeGreaterThan(25);
  });

  it('shrinks from the calls that run, where nothing is usual, as soon as methods are slower than they were', () => {
    unjudged(64);
    expect(load.limit).toBe(1000);
    unjudged(16, { ms: 100, running: 400 });
    expect(load.limit).toBe(300);
    unjudged(200, { ms: 100, running: 2 });
    expect(load.limit).toBeLessThanOrEqual(2);
  });

  it('grows while most calls find a row, up to the ceiling, and falls back when they do not', () => {
    judge(256, { running: 0 });
    unjudged(16, { isFound: true });
    expect(load.limit).toBe(6);
    unjudged(1600, { isFound: true });
    expect(load.limit).toBe(1000);
    unjudged(16);
    expect(load.limit).toBe(4);
  });

  it('leaves calls out of which it is not clear whether they found a row, but for how long they took', () => {
    judge(256, { running: 0 });
    for (let i = 0; i < 16; i++) {
      unjudged(9, { isFound: 'unclear' });
      unjudged(4, { isFound: true });
      unjudged(3);
    }
    const { limit } = load;
    expect(limit).toBeGreaterThan(100);
    unjudged(160, { isFound: 'unclear' });
    expect(load.limit).toBe(limit);
    unjudged(160, { isFound: 'unclear', ms: 100 });
    expect(load.limit).toBeLessThan(5);
  });

  it('neither grows nor shrinks while such calls are slow', () => {
    judge(256, { running: 0 });
    unjudged(64, { isFound: true, ms: 100 });
    expect(load.limit).toBe(4);
  });

  it('forgets calls that never end, and counts those that end late once', () => {
    for (let i = 0; i < 500; i++) load.begin();
    const late = [load.begin(), load.begin()];
    clock.at += 12_000;
    judge(64, { running: 0 });
    clock.at += 12_000;
    judge(64, { running: 0 });
    for (const startedAt of late) load.end(startedAt);
    clock.at += 24 * 60 * 60_000;
    judge(256, { running: 10 });
    expect(load.limit).toBeGreaterThanOrEqual(29);
    expect(load.limit).toBeLessThan(33);
  });

  it('counts calls that end in the period after their own', () => {
    const begun = Array.from({ length: 130 }, () => load.begin());
    clock.at += 12_000;
    judge(64, { running: 0 });
    for (const startedAt of begun) load.end(startedAt);
    clock.at += 24 * 60 * 60_000;
    judge(256, { running: 10 });
    expect(load.limit).toBeGreaterThanOrEqual(29);
    expect(load.limit).toBeLessThan(33);
  });

  it('begins anew when the filter judges again', () => {
    judge(256, { running: 0 });
    unjudged(200, { ms: 100 });
    judge(192, { running: 0 });
    expect(load.limit).toBe(4);
  });
});
