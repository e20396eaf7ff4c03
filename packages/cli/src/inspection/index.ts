export type { FilterInspection } from './filter-inspector.js';
export { type KeyFacts, sizesOf } from './key-facts.js';
export { INSPECTED_KINDS, type InspectedKindName, ServerInspector } from './server-inspector.js';
export { checkFilter, inspectFilter, type InspectedPart } from './inspected-parts.js';
export { findFilters, type FilterName, type FoundKey, type KeysOfFilter, keysOf } from './filter-keys.js';
export { boardsOf, type FilterBoard } from './filter-boards.js';
