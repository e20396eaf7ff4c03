export type { BloomFilterState } from '../../common/index.js';
export type { BloomHealthOptions, BloomUnreadyState } from './bloom-health-options.js';
export { BloomHealthIndicator } from './bloom-health.indicator.js';
