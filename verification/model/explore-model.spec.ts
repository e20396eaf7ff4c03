import { describe, expect, it } from '@jest/globals';
import { exploreModel } from './explore-model.js';
import type { Model } from './model.js';

/**
 * Counters that each go up to `last`; of counters that cannot be told apart, only how many stand where
 * matters.
 */
function counters(
  count: number,
  last: number,
  isWrong: (values: readonly number[]) => boolean,
): Model<number[]> {
  return {
    initial: Array.from({ length: count }, () => 0),
    steps(values, take) {
      values.forEach((value, i) => {
        if (value < last) take(values.with(i, value + 1), `counter to ${value + 1}`);
      });
    },
    violation: (values) => (isWrong(values) ? 'wrong' : undefined),
    key: (values) => values.toSorted((a, b) => a - b).join(),
  };
}

describe('exploreModel', () => {
  it('looks at every state once', () => {
    // Multisets of 3 numbers out of 100.
    const { states, violation, isCut } = exploreModel(counters(3, 99, () => false));
    expect({ states, violation, isCut }).toEqual({ states: 171_700, violation: undefined, isCut: false });
  });

  it('finds the shortest way to what is wrong', () => {
    const { violation } = exploreModel(counters(2, 9, (values) => values.includes(3)));
    expect(violation).toEqual({ what: 'wrong', steps: ['counter to 1', 'counter to 2', 'counter to 3'] });
  });

  it('finds what is wrong in the first state', () => {
    expect(exploreModel(counters(1, 1, () => true)).violation).toEqual({ what: 'wrong', steps: [] });
  });

  it('proves nothing of more states than the limit', () => {
    const { isCut, states } = exploreModel(
      counters(3, 99, () => false),
      1_000,
    );
    expect(isCut).toBe(true);
    expect(states).toBeGreaterThan(1_000);
  });
});
