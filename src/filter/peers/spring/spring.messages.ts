import { plural, printed } from '../../../common/index.js';

export const wrongErrorRate = (errorRate: unknown) =>
  `Expected errorRate to be at least 0 and below 1, got ${printed(errorRate)}.`;

export const tooSmall = (capacity: number, errorRate: number) =>
  `Expected a filter of at least one bit, got none for ${plural(capacity, 'id')} at an error rate of ${errorRate}. Lower the error ` +
  'rate; the helper would divide by zero.';
