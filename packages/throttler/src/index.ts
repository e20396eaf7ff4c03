export { BloomThrottlerGuard, type BloomThrottlerOptions } from './bloom-throttler.guard.js';
