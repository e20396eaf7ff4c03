export { type BloomRedis, RedisStore, type RedisStoreOptions } from './redis-store.js';
export type { FilterInspection, FilterInspector, InspectedVerdict } from './inspection/filter-inspector.js';
export type { KeyFacts } from './inspection/key-facts.js';
export {
  INSPECTED_KINDS,
  type InspectedKindName,
  type ServerInspector,
} from './inspection/server-inspector.js';
