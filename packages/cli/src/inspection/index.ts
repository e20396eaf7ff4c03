export type { FilterInspection } from './filter-inspector.js';
export type { KeyFacts } from './key-facts.js';
export { INSPECTED_KINDS, type InspectedKindName, ServerInspector } from './server-inspector.js';
export { checkFilter, inspectFilter, type InspectedPart } from './inspected-parts.js';
export {
  findFilters,
  type FilterName,
  type FoundKey,
  type KeysOfFilter,
  namedKeys,
  ownedKeys,
} from './filter-keys.js';
export { isRead } from './last-read.js';
export { boardsOf, type FilterBoard } from './filter-boards.js';
