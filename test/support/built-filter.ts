import { createGeneration, type Generation, planFilter } from '../../src/filter/index.js';
import { type TestPlan, testPlan } from '../../src/testing/store/built-filter.js';

export {
  build,
  commitIds,
  idsOf,
  LEASE_MS,
  leaseOf,
  mergeIds,
  RARE,
  type TestPlan,
  testPlan,
} from '../../src/testing/store/built-filter.js';

export function testGeneration(plan?: TestPlan): Generation {
  const { maxIdBytes, ...target } = testPlan(plan);
  return createGeneration(planFilter(target), maxIdBytes);
}
