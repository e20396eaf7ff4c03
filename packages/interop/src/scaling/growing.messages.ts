import { plural, printed } from 'nestjs-bloom/internal';

export const maxCapacityTooSmall = (capacity: number, maxCapacity: number) =>
  `Expected maxCapacity to be at least capacity, ${capacity}, got ${maxCapacity}. It counts the ids of all layers, of which ` +
  'the first one is for capacity.';

export const wrongTightening = (tightening: unknown) =>
  `Expected tightening to be above 0 and below 1, got ${printed(tightening)}.`;

export const noFurtherLayer = (ids: number, layers: number) =>
  `Expected at most ${plural(ids, 'id')} in ${plural(layers, 'layer')}, got one more: a further layer would exceed 4 GiB, the error ` +
  'rate or maxCapacity. Make a filter of a larger capacity for all ids.';
