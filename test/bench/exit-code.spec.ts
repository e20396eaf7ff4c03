import { describe, expect, it } from '@jest/globals';
import { Report } from '../../bench/harness.js';
import { Summary } from '../../bench/summary.js';

type Bounds = { readonly atLeast?: number; readonly atMost?: number };

/** A run of one goal, judged as a full run judges it or not, as in a quick one. */
function runOf(ratio: number, bounds: Bounds, isFull = true): Summary {
  const summary = new Summary();
  const report = new Report('add', isFull, (row) => summary.note(row));
  report.figure('others', 'ids/s', 1);
  report.goal({ contender: 'ours', metric: 'ids/s', value: 1, ratio, of: '× others', ...bounds });
  return summary;
}

describe('npm run bench', () => {
  it.each<[string, number, Bounds, 0 | 1, string]>([
    ['a goal that is met', 5, { atLeast: 5 }, 0, '1 of 1 goals met.'],
    ['one that is missed by a fifth', 4, { atLeast: 5 }, 0, '0 of 1 goals met.'],
    ['one that is missed by more', 3.9, { atLeast: 5 }, 1, 'add: ids/s: 3.90, goal ≥ 5 × others'],
    ['a bound that is kept', 1, { atMost: 1 }, 0, '1 of 1 goals met.'],
    ['one that is passed by a fifth', 1.2, { atMost: 1 }, 0, '0 of 1 goals met.'],
    ['one that is passed by more', 1.21, { atMost: 1 }, 1, 'MISSED BY MORE THAN A FIFTH'],
    ['a ratio that makes no sense', NaN, { atLeast: 5 }, 1, 'add: ids/s: NaN, goal ≥ 5'],
  ])('judges %s', (_, ratio, bounds, code, text) => {
    const summary = runOf(ratio, bounds);
    expect(summary.exitCode).toBe(code);
    expect(summary.text).toContain(text);
  });

  it('judges no goal in a quick run, however far it is', () => {
    const summary = runOf(0.01, { atLeast: 5 }, false);
    expect(summary.exitCode).toBe(0);
    expect(summary.text).toContain('No goal was judged.');
  });

  it('ends with 1 for a benchmark that failed, in a quick run too, and with 0 for one that was skipped', () => {
    const summary = runOf(1, { atLeast: 5 }, false);
    summary.skip('rebuild: BF.MADD: no server');
    expect(summary.exitCode).toBe(0);
    summary.fail('rebuild');
    expect(summary.exitCode).toBe(1);
    expect(summary.text).toContain('FAILED: rebuild');
  });
});
