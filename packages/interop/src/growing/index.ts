export type { LayoutPlan, LayoutPlanner } from '../layout-plan.js';
export { ScalableFilter, type ScalableFilterOptions, type ScalableLayer } from './scalable-filter.js';
export {
  checkScaling,
  planLayer,
  planLayerWithin,
  type ScalingTarget,
  type ScalingOptions,
  stackErrorRate,
} from './growing-plan.js';
export { scalingPlanner } from './growing-planner.js';
