export { type FilterInspection, FilterInspector, type InspectedVerdict } from './filter-inspector.js';
export type { KeyFacts } from './key-facts.js';
export { INSPECTED_KINDS, type InspectedKindName, ServerInspector } from './server-inspector.js';
