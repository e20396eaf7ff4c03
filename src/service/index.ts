export type { BloomFilter, BloomFilterInfo } from './bloom-filter.js';
export { BloomService } from './bloom.service.js';
