export type { BloomId, BloomLayout, Demand, FilterPlan, IdKey } from '../filter/index.js';
export {
  type LayoutPlan,
  type LayoutPlanner,
  planLayer,
  ScalableFilter,
  type ScalableFilterOptions,
  type ScalableLayer,
  type ScalingDemand,
  type ScalingOptions,
} from '../filter/scaling/index.js';
export { scaling } from './scaling.js';
