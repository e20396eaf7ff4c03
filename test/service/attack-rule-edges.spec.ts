import { beforeEach, describe, expect, it } from '@jest/globals';
import { type AttackChange, AttackRule } from '../../src/service/attack-rule.js';

const NONE = new Map<string, number>();
const MINUTE = 60;
const HOUR = 60 * MINUTE;

let rule: AttackRule;
let now: number;
let absents: number;
let lookups: number;
let found: (AttackChange & { readonly at: number })[];

beforeEach(() => {
  rule = new AttackRule();
  [now, absents, lookups] = [5_000, 0, 0];
  found = [];
});

interface Phase {
  readonly seconds: number;
  /** A second. */
  readonly absent?: number;
  readonly passed?: number;
  readonly everyMs?: number;
}

/** Lets some time pass in which the counters grow evenly. */
function pass({ seconds, absent = 0, passed = 0, everyMs = 250 }: Phase): void {
  for (const end = now + seconds * 1000; now < end;) {
    now += everyMs;
    absents += (absent * everyMs) / 1000;
    lookups += ((absent + passed) * everyMs) / 1000;
    read();
  }
}

function burst(count: number): void {
  absents += count;
  lookups += count;
}

function read(): void {
  const change = rule.read({ now, absents, lookups, methods: NONE });
  if (change) found.push({ ...change, at: now });
}

const types = () => found.map(({ type }) => type);

describe('An attack starts', () => {
  it('when the first readings of a process show one', () => {
    read();
    pass({ seconds: 2, absent: 60 });
    expect(types()).toEqual(['started']);
  });

  it.each([60, 100, 1_000, 100_000])(
    'within two seconds, at %d a second, whenever a reading is taken',
    (absent) => {
      for (let offset = 0; offset < 250; offset += 10) {
        rule = new AttackRule();
        [now, absents, lookups, found] = [5_000, 0, 0, []];
        pass({ seconds: 30 });
        const onset = now + offset;
        burst(Math.round((absent * (250 - offset)) / 1000));
        now += 250;
        read();
        pass({ seconds: 3, absent });
        expect(types()).toEqual(['started']);
        expect(found[0]!.at - onset).toBeLessThanOrEqual(2_000);
      }
    },
  );

  it('when the process is so busy that readings come late', () => {
    pass({ seconds: 30, everyMs: 250 });
    const onset = now;
    pass({ seconds: 6, absent: 3_000, everyMs: 900 });
    expect(types()).toEqual(['started']);
    expect(found[0]!.at - onset).toBeLessThanOrEqual(2 * 900);
  });

  it.each([1, 2, 3])('when it comes in waves, every %d seconds', (seconds) => {
    pass({ seconds: 60, passed: 5 });
    for (let i = 0; i < 10; i++) {
      burst(1_000);
      pass({ seconds, passed: 5 });
    }
    expect(types()).toEqual(['started']);
  });

  it('not for one burst, however large, nor for one in a minute', () => {
    for (let i = 0; i < 5; i++) {
      pass({ seconds: 60, passed: 5 });
      burst(5_000);
    }
    pass({ seconds: 60, passed: 5 });
    expect(found).toEqual([]);
  });

  it('not below minPerSecond, at whatever share', () => {
    pass({ seconds: HOUR, absent: 49 });
    expect(found).toEqual([]);
  });

  it('not when ten times the visitors mistype ten times the ids', () => {
    for (let i = 0; i < 2; i++) {
      pass({ seconds: HOUR, absent: 20, passed: 1_000 });
      pass({ seconds: HOUR, absent: 200, passed: 10_000 });
    }
    expect(found).toEqual([]);
  });
});

describe('What is usual', () => {
  /** A crawler that asks for 40 dead ids a second, on a small shop. */
  const crawled = { absent: 40, passed: 10 };

  beforeEach(() => {
    pass({ seconds: 3 * HOUR, ...crawled });
    expect(found).toEqual([]);
  });

  it('is the rate of the last minutes: three times that is no attack, five times is', () => {
    pass({ seconds: MINUTE, ...crawled, absent: 120 });
    expect(found).toEqual([]);
    pass({ seconds: MINUTE, ...crawled, absent: 200 });
    expect(found).toMatchObject([{ type: 'started' }]);
    const { usualRate } = found[0] as Extract<AttackChange, { type: 'started' }>;
    expect(usualRate).toBeCloseTo(40, 0);
  });

  it('is not learned from an attack', () => {
    pass({ seconds: HOUR, ...crawled, absent: 1_000 });
    pass({ seconds: MINUTE, ...crawled });
    pass({ seconds: MINUTE, ...crawled, absent: 250 });
    expect(types()).toEqual(['started', 'ended', 'started']);
  });
});

describe('An attack ends', () => {
  it('once, after it has been quiet for endAfterMs, with its figures', () => {
    pass({ seconds: 60, passed: 20 });
    const onset = now;
    pass({ seconds: 10, absent: 200, passed: 20 });
    pass({ seconds: 5, absent: 1_000, passed: 20 });
    const end = now;
    pass({ seconds: 60, passed: 20 });
    expect(types()).toEqual(['started', 'ended']);
    const [started, ended] = found as [
      Extract<AttackChange, { type: 'started' }> & { at: number },
      Extract<AttackChange, { type: 'ended' }> & { at: number },
    ];
    expect(started.since).toBe(onset);
    expect(started.share).toBeCloseTo(200 / 220, 1);
    expect(started.rate).toBeCloseTo(200, -1);
    expect(ended).toMatchObject({ absents: 7_000, peakRate: 1_000 });
    // The mean of startAfterMs sinks after the end.
    expect(ended.durationMs).toBeGreaterThanOrEqual(15_000);
    expect(ended.durationMs).toBeLessThanOrEqual(15_000 + 1_500);
    expect(ended.at - end).toBeGreaterThanOrEqual(30_000);
  });

  it.each([{ endAfterMs: 500 }, { startAfterMs: 60_000 }])(
    'for good, however long the rule looks back: %j',
    (settings) => {
      rule = new AttackRule(settings);
      pass({ seconds: 120, absent: 500 });
      pass({ seconds: 1_000 });
      expect(types()).toEqual(['started', 'ended']);
      pass({ seconds: 120, absent: 500 });
      expect(types()).toEqual(['started', 'ended', 'started']);
    },
  );

  it('not while it goes up and down about the bound, or pauses', () => {
    for (let i = 0; i < 50; i++) {
      pass({ seconds: 5, absent: 70 });
      pass({ seconds: 5, absent: 40 });
      pass({ seconds: i % 5, absent: 0 });
      pass({ seconds: 25 });
    }
    expect(types()).toEqual(['started']);
  });
});

describe('A process that was stopped', () => {
  it('compares nothing with what was before: not after an hour, nor with what waited for it', () => {
    pass({ seconds: 60, absent: 1, passed: 50 });
    now += HOUR * 1000;
    burst(400);
    read();
    pass({ seconds: 60, absent: 1, passed: 50 });
    expect(found).toEqual([]);
    pass({ seconds: 2, absent: 200, passed: 50 });
    expect(types()).toEqual(['started']);
  });

  it('learns nothing from the pause', () => {
    for (let i = 0; i < 40; i++) {
      pass({ seconds: 50, absent: 40 });
      now += 30_000;
      burst(1e6);
    }
    pass({ seconds: 10, absent: 100 });
    expect(types()).toEqual(['started']);
    expect((found[0] as Extract<AttackChange, { type: 'started' }>).usualRate).toBeLessThan(1);
  });

  it('ends an attack that was over meanwhile when it has seen that for itself', () => {
    pass({ seconds: 5, absent: 500 });
    now += HOUR * 1000;
    pass({ seconds: 29 });
    expect(types()).toEqual(['started']);
    pass({ seconds: 2 });
    expect(types()).toEqual(['started', 'ended']);
    expect((found[1] as Extract<AttackChange, { type: 'ended' }>).durationMs).toBeLessThan(10_000);
  });
});

describe('Two readings of one moment', () => {
  it('are one', () => {
    read();
    burst(1_000);
    read();
    pass({ seconds: 30, passed: 1 });
    expect(found).toEqual([]);
  });
});
