export type { CopyLimits } from './copy-budget.js';
export { ReplicaStore } from './replica-store.js';
