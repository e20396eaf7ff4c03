export type {
  BloomFilterStore,
  BloomStore,
  BloomVerdict,
  BuiltGeneration,
  FilterDescription,
  OpenFilterOptions,
  RebuildLease,
  Staging,
} from './store.js';
