export type { BloomId, BloomLayout, FilterTarget, FilterPlan, IdKey } from '../filter/index.js';
export {
  type LayoutPlan,
  type LayoutPlanner,
  planLayer,
  ScalableFilter,
  type ScalableFilterOptions,
  type ScalableLayer,
  type ScalingTarget,
  type ScalingOptions,
} from '../filter/growing/index.js';
export { scaling } from './scaling.js';
