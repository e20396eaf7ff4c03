import { BloomConfigError } from '../../common/index.js';
import { blocked } from '../../filter/index.js';
import type { FilterStore, OpenFilterOptions, StoredFilter } from '../index.js';
import { PartitionedFilter } from './partitioned-filter.js';
import { notInPartitions } from './partitions.messages.js';

/**
 * A store whose filters may be divided into parts, each of which is a filter of the store around which this
 * one is.
 */
export class PartitioningStore implements FilterStore {
  readonly kind: string;

  constructor(private readonly inner: FilterStore) {
    this.kind = inner.kind;
  }

  open(options: OpenFilterOptions): StoredFilter {
    const { partitions, name, layout } = options;
    if (partitions === undefined) return this.inner.open(options);
    if (layout.kind !== blocked.kind) throw new BloomConfigError(notInPartitions(name, layout.kind));
    return new PartitionedFilter(this.inner, { ...options, partitions });
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}
