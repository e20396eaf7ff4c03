import { Random } from '../../../test/support/random.js';
import type { Scenario } from '../scenario.js';
import { blockedGround } from './blocked-ground.js';
import { blockedScenario } from './blocked-scenario.js';
import { leasedScenario } from './leased-scenario.js';

/**
 * Filters of integers, of which one in four is read with leases. Builds of processes whose source says where
 * its integers begin and end have a bit for each; those of others are hashed.
 */
export function exactScenario(seed: number): Scenario {
  const scenario = seed % 4 === 0 ? leasedScenario(seed) : blockedScenario(seed);
  const random = new Random(seed ^ 0x1f83d9ab);
  return {
    ...scenario,
    hasSource: true,
    instances: scenario.instances.map((plan) => ({
      ...plan,
      isNumbered: true,
      isOrdered: random.below(4) > 0,
    })),
    ground: (filterName) => blockedGround({ filterName, template: undefined, hasTable: false }),
  };
}
