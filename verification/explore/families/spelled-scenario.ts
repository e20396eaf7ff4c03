import { Random } from '../../../test/support/random.js';
import type { Scenario } from '../scenario.js';
import { blockedScenario } from './blocked-scenario.js';
import { leasedScenario } from './leased-scenario.js';

/**
 * Filters of layout `blocked`, of which one in four is read with leases, with processes of two spellings at
 * once.
 */
export function spelledScenario(seed: number): Scenario {
  const scenario = seed % 4 === 0 ? leasedScenario(seed) : blockedScenario(seed);
  const random = new Random(seed ^ 0x3c6ef372);
  const [first, second, ...others] = scenario.instances;
  const instances = [
    { ...first!, spellsOtherwise: random.below(2) === 0 },
    ...(second ? [second] : []),
    ...others.map((plan) => ({ ...plan, spellsOtherwise: random.below(2) === 0 })),
  ];
  return { ...scenario, instances };
}
