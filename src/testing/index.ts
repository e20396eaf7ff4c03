export type {
  BloomClientAbsents,
  BloomEvent,
  BloomEventDetails,
  BloomEventError,
  BloomEventListener,
  BloomEventMap,
  BloomFilterState,
  BloomRebuildProgress,
} from '../common/index.js';
export type { BloomId } from '../filter/index.js';
export type { BloomCallback, BloomGuardDefaults } from '../guard/index.js';
export { BloomTestingModule, type BloomTestingOptions, type TestingBuilder } from './bloom-testing.module.js';
export type { BloomTestIds } from './tested-filters.js';
