import { BLOCKED_LAYOUT } from './generation.js';
import type { FilterLayout } from './layout.js';
import { planFilter } from './plan.js';

/** The default layout, this library's own, which no other system reads. */
export const blocked: FilterLayout = {
  kind: 'blocked',
  number: BLOCKED_LAYOUT,
  hasFixedSize: false,
  isMadeByOthers: false,
  waitsForAdopt: false,
  grows: false,
  canRemove: false,
  check: ({ capacity, errorRate }) => void planFilter({ capacity, errorRate }),
  bytes: ({ capacity, errorRate }) => planFilter({ capacity, errorRate }).bytes,
};
