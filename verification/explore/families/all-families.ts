import { PROTOCOL_SAFETIES } from '../broken-store.js';
import { templateName } from './blocked-ground.js';
import { blockedScenario, CAPACITIES, templateScenario } from './blocked-scenario.js';
import { exactScenario } from './exact-scenario.js';
import type { Family } from './family.js';
import { FOREIGN_SAFETIES } from './foreign-safeties.js';
import { foreignScenario } from './foreign-scenario.js';
import { LEASED_SAFETIES } from './leased-safeties.js';
import { leasedScenario } from './leased-scenario.js';
import { SCALING_SAFETIES } from './scaling-safeties.js';
import { scalingScenario } from './scaling-scenario.js';
import { spelledScenario } from './spelled-scenario.js';
import { SPELLING_SAFETIES } from './spelling-safeties.js';

export const FAMILIES: readonly Family[] = [
  {
    name: 'blocked',
    share: 0.3,
    safeties: PROTOCOL_SAFETIES,
    triesOfSpare: 200,
    makeScenario: blockedScenario,
    templates: CAPACITIES.map((_, number) => ({
      filterName: templateName(number),
      scenario: templateScenario(number),
    })),
  },
  {
    name: 'foreign',
    share: 0.26,
    safeties: FOREIGN_SAFETIES,
    triesOfSpare: 150,
    makeScenario: foreignScenario,
    templates: [],
  },
  {
    name: 'scaling',
    share: 0.14,
    safeties: SCALING_SAFETIES,
    triesOfSpare: 100,
    makeScenario: scalingScenario,
    templates: [],
  },
  {
    name: 'leased',
    share: 0.1,
    safeties: LEASED_SAFETIES,
    triesOfSpare: 100,
    makeScenario: leasedScenario,
    // Those of filters of one generation.
    templates: [],
  },
  {
    name: 'spelled',
    share: 0.1,
    safeties: SPELLING_SAFETIES,
    triesOfSpare: 100,
    makeScenario: spelledScenario,
    templates: [],
  },
  {
    name: 'exact',
    share: 0.1,
    // Scripts are those of `blocked`.
    safeties: [],
    triesOfSpare: 100,
    makeScenario: exactScenario,
    templates: [],
  },
];
