export { ReplicaStore } from './replica-store.js';
