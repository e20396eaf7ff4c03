export { BloomHealthIndicator } from './bloom-health.indicator.js';
export type { BloomHealthOptions, BloomUnreadyState } from './bloom-health-options.js';
