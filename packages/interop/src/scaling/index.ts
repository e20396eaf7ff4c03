export type { BloomId, FilterPlan, FilterTarget, IdKey } from 'nestjs-bloom/filter';
export type { BloomLayout } from 'nestjs-bloom/store';
export type { LayoutPlan, LayoutPlanner } from '../layout-plan.js';
export { planLayer, type ScalingTarget, type ScalingOptions } from './growing-plan.js';
export { ScalableFilter, type ScalableFilterOptions, type ScalableLayer } from './scalable-filter.js';
export { scaling } from './scaling.js';
