export { PartitioningStore } from './partitioning-store.js';
