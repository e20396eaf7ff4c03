import type { BloomFilterStore, BloomStore, CopyableStore, OpenFilterOptions } from '../index.js';
import { ReplicaFilterStore } from './replica-filter-store.js';

/** Filters up to this size are copied unless it is said otherwise. */
const COPIED_BY_DEFAULT_BYTES = 64 * 1024 * 1024;

/** A store whose filters have copies in this process, so that look-ups of ids that exist need no round trip. */
export class ReplicaStore implements BloomStore {
  readonly kind: string;

  constructor(private readonly inner: CopyableStore) {
    this.kind = inner.kind;
  }

  open(options: OpenFilterOptions): BloomFilterStore {
    if (options.replica === 'off') return this.inner.open(options);
    const maxBytes = options.replica === 'verified' ? Infinity : COPIED_BY_DEFAULT_BYTES;
    return new ReplicaFilterStore({
      ...options,
      maxBytes,
      open: (onBlocks) => this.inner.open({ ...options, onBlocks }),
    });
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}
