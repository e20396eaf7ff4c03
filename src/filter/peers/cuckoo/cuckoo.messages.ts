import { plural } from '../../../common/index.js';

export const tooManyTables = (mostTables: number, tables: number) =>
  `Expected at most ${mostTables} tables in a cuckoo filter that is to take ids, got ${tables}. Make a larger ` +
  'one for all ids.';

export const fullAndNotGrowing = (ids: number) =>
  `Expected room for one more id in a cuckoo filter that does not grow, found none beside ${plural(ids, 'id')}. Make a larger one, ` +
  'or one with an expansion.';

export const tableTooLarge = (mostBytes: number, buckets: number, bucketSize: number) =>
  `Expected a further table of at most ${mostBytes} bytes, got one of ${buckets} buckets of ` +
  `${bucketSize}. Make a new filter for all ids.`;

export const wrongHeader = (expected: string, got: string) =>
  `Expected the header of a cuckoo filter's dump to have ${expected}, got ${got}. Pass the chunks as CF.SCANDUMP replied them.`;

export const tooLarge = (capacity: number, errorRate: number, mostBytes: number) =>
  `A cuckoo filter of ${capacity} ids at an error rate of ${errorRate} needs more than ${mostBytes} bytes, which is ` +
  'the limit. Lower the capacity, raise the error rate, or use another layout: fingerprints have one byte.';

export const wrongBuckets = (buckets: number) =>
  `Expected buckets to be a power of two, got ${buckets}. Use that of CF.INFO.`;
