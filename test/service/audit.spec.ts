import { describe, expect, it } from '@jest/globals';
import { auditRule, AuditSample, GuardState, NO_AUDIT } from '../../src/service/guard-state.js';

/** How many of these answers are picked, which come in so many milliseconds. */
function picked(
  option: Parameters<typeof auditRule>[0],
  { answers, ms = 0, hasSource = true }: { answers: number; ms?: number; hasSource?: boolean },
): number {
  let now = 0;
  const sample = new AuditSample(auditRule(option, hasSource), { now: () => now });
  let count = 0;
  for (let i = 0; i < answers; i++) {
    now += ms / answers;
    if (sample.takes({ trial: 0 })) count++;
  }
  return count;
}

describe('An audit', () => {
  it.each([0.5, 0.1, 0.001])('picks about the given share of all answers: %p', (sampleRate) => {
    const answers = 400_000;
    const expected = answers * sampleRate;
    // Six standard deviations.
    const tolerance = 6 * Math.sqrt(expected * (1 - sampleRate));
    expect(Math.abs(picked({ sampleRate }, { answers }) - expected)).toBeLessThan(tolerance);
  });

  it('picks each answer at a rate of 1, and none at 0, where it is off, and without a source unless that is asked for', () => {
    expect(picked({ sampleRate: 1 }, { answers: 1000 })).toBe(1000);
    expect(picked({ sampleRate: 0 }, { answers: 1000 })).toBe(0);
    expect(picked(false, { answers: 1000 })).toBe(0);
    expect(picked(undefined, { answers: 100_000, hasSource: false })).toBe(0);
    expect(picked({ sampleRate: 1 }, { answers: 1000, hasSource: false })).toBe(1000);
    expect(auditRule(false, true)).toBe(NO_AUDIT);
    expect(auditRule({ sampleRate: 0 }, true).trial).toBe(0);
  });

  it('picks by default one in a thousand, and in a flood no more than five a second', () => {
    const share = picked(undefined, { answers: 400_000, ms: 1_000_000 });
    expect(Math.abs(share - 400)).toBeLessThan(120);
    const flood = picked(undefined, { answers: 400_000, ms: 10_000 });
    expect(flood).toBeGreaterThan(45);
    expect(flood).toBeLessThanOrEqual(55);
  });
});

describe('The trial of a guard', () => {
  const guard = { method: 'Products.find', counted: { last: undefined } };
  const state = () =>
    new GuardState({ shadow: false, audit: auditRule(undefined, false), negativeCache: false, drainMs: 0 });

  it('is used up by answers that find nothing, however late what is found is looked into', () => {
    const guarding = state();
    for (let i = 0; i < 100; i++) {
      expect(guarding.isAudited(guard)).toBe(true);
      guarding.recordFound(guard.method);
    }
    for (let i = 0; i < 20; i++) expect(guarding.isAudited(guard)).toBe(true);
    expect(guarding.isAudited(guard)).toBe(false);
  });

  it('begins again for a guard that was wrong, until it is turned off for good', () => {
    const guarding = state();
    for (let i = 0; i < 30; i++) guarding.isAudited(guard);
    expect(guarding.isAudited(guard)).toBe(false);
    expect(guarding.recordWrong(guard.method, 3)).toBeUndefined();
    for (let i = 0; i < 20; i++) expect(guarding.isAudited(guard)).toBe(true);
    expect(guarding.isAudited(guard)).toBe(false);
    expect(guarding.recordWrong(guard.method, 4)).toBe(3);
    expect([guarding.turnOff(guard.method), guarding.turnOff(guard.method)]).toEqual([true, false]);
    guarding.methods.tryAgain();
    guarding.recordFound(guard.method);
    for (let i = 0; i < 100; i++) expect(guarding.isAudited(guard)).toBe(true);
  });
});
