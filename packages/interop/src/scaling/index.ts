export type { BloomId, FilterPlan, FilterTarget, IdKey } from 'nestjs-bloom/filter';
export type { BloomLayout } from 'nestjs-bloom/store';
export {
  type LayoutPlan,
  type LayoutPlanner,
  planLayer,
  ScalableFilter,
  type ScalableFilterOptions,
  type ScalableLayer,
  type ScalingTarget,
  type ScalingOptions,
} from '../growing/index.js';
export { scaling } from './scaling.js';
