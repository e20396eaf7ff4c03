import type { Scenario } from './simulation.js';

const calm = { flood: 0, isHinted: false, wasReady: true, instances: 3 } as const;
const flood = 5000;

/** Real lookups a second. Ten connections bear 2,000. */
export const SCENARIOS = {
  'no attack, usual load': { ...calm, real: 300, realWhenBlind: 300 },
  'no attack, twice the usual load': { ...calm, real: 800, realWhenBlind: 1600 },
  'the same, one instance': { ...calm, real: 800, realWhenBlind: 1600, instances: 1 },
  'no attack, ten times the usual load, one instance': {
    ...calm,
    real: 100,
    realWhenBlind: 1000,
    instances: 1,
  },
  'no attack, queries four times as slow': { ...calm, real: 300, realWhenBlind: 300, slower: 4 },
  'no attack, never ready': { ...calm, real: 0, realWhenBlind: 1600, wasReady: false },
  'the same, one instance (never ready)': {
    ...calm,
    real: 0,
    realWhenBlind: 1600,
    wasReady: false,
    instances: 1,
  },
  'attack, hint': { ...calm, real: 300, realWhenBlind: 300, flood, isHinted: true },
  'attack, hint, high load': { ...calm, real: 800, realWhenBlind: 800, flood, isHinted: true },
  'attack, hint, twenty instances': {
    ...calm,
    real: 300,
    realWhenBlind: 300,
    flood,
    isHinted: true,
    instances: 20,
  },
  'attack, no hint': { ...calm, real: 300, realWhenBlind: 300, flood },
  'attack, never ready': { ...calm, real: 0, realWhenBlind: 300, flood, wasReady: false },
} satisfies Readonly<Record<string, Scenario>>;
