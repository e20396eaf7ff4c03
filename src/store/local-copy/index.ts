export type { CopyLimits } from './copy-budget.js';
export { LocalCopyStore } from './local-copy-store.js';
