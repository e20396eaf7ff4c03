import { describe, expect, it } from '@jest/globals';
import { RULES } from './limit-rules.js';
import { SCENARIOS } from './scenarios.js';
import { type Outcome, simulate } from './simulation.js';

const SEED = 1;
/** The 99th percentile without an attack. */
const CALM_MS = 24;

type ScenarioName = keyof typeof SCENARIOS;
type RuleName = keyof typeof RULES;

function outcomeOf(scenario: ScenarioName, rule: RuleName = 'usual load'): Promise<Outcome> {
  return simulate(SCENARIOS[scenario], RULES[rule], SEED);
}

describe(`A budget of calls that the filter cannot judge, simulated (seed ${SEED})`, () => {
  it.each(Object.keys(SCENARIOS).filter((name) => !name.startsWith('attack')))(
    'refuses nobody with %s',
    async (name) => {
      const { refused, served } = await outcomeOf(name as ScenarioName);
      expect({ refused, served }).toEqual({ refused: 0, served: 1 });
    },
  );

  it.each(['attack, hint', 'attack, hint, high load', 'attack, hint, twenty instances'] as const)(
    'serves ids that exist, in at most three times the usual time, with %s',
    async (name) => {
      const { served, p99 } = await outcomeOf(name);
      expect(served).toBeGreaterThan(0.99);
      expect(p99).toBeLessThan(3 * CALM_MS);
    },
  );

  it.each(['attack, no hint', 'attack, never ready'] as const)(
    'shares its places among all with %s',
    async (name) => {
      const { served, p99 } = await outcomeOf(name);
      expect(served).toBeGreaterThan(0.35);
      expect(p99).toBeLessThan(300);
    },
  );

  it.each<[RuleName, ScenarioName]>([
    ['times ignored', 'attack, never ready'],
    ['times ignored', 'no attack, ten times the usual load, one instance'],
    ['four places', 'the same, one instance'],
    ['Vegas', 'the same, one instance'],
  ])('needs more than the rule "%s": %s', async (rule, name) => {
    expect((await outcomeOf(name, rule)).served).toBeLessThan(0.9);
  });

  it.each<[RuleName, ScenarioName]>([
    ['none', 'attack, hint'],
    ['fifty places', 'attack, hint'],
    ['Gradient2', 'attack, hint'],
    ['AIMD', 'attack, hint'],
  ])('needs less than the rule "%s" allows: %s', async (rule, name) => {
    const { p99 } = await outcomeOf(name, rule);
    expect(p99).toBeGreaterThan(3 * CALM_MS);
  });
});
