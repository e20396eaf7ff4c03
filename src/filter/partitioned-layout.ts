import type { FilterLayout } from './layout.js';
import { partCapacity } from './parts.js';

/** A layout whose filters are divided into parts, each planned for its share of the ids. */
export function partitionedLayout(layout: FilterLayout, parts: number): FilterLayout {
  const ofPart = <Target extends { readonly capacity: number }>(target: Target): Target => ({
    ...target,
    capacity: Number.isSafeInteger(target.capacity) ? partCapacity(target.capacity, parts) : target.capacity,
  });
  return {
    ...layout,
    check: (use) => layout.check(ofPart(use)),
    bytes: (target) => parts * layout.bytes(ofPart(target)),
  };
}
