import { blocked } from '../../filter/index.js';
import type { StoredFilter, FilterStore, CopyableStore, OpenFilterOptions } from '../index.js';
import { CopyBudget, type CopyLimits } from './copy-budget.js';
import { CopiedFilter } from './copied-filter.js';

/** Filters up to this size are copied unless it is said otherwise. */
const COPIED_BY_DEFAULT_BYTES = 64 * 1024 * 1024;

/** A store whose filters have copies in this process: lookups of ids that exist need no round trip. */
export class LocalCopyStore implements FilterStore {
  readonly kind: string;

  private readonly budget: CopyBudget;

  /** @param limits of all copies together; without them there are none. */
  constructor(
    private readonly inner: CopyableStore,
    limits?: CopyLimits,
  ) {
    this.kind = inner.kind;
    this.budget = new CopyBudget(limits);
  }

  open(options: OpenFilterOptions): StoredFilter {
    const { layout, replica, part } = options;
    if (replica === 'off' || layout.kind !== blocked.kind) return this.inner.open(options);
    const maxBytes = replica === undefined ? COPIED_BY_DEFAULT_BYTES / (part?.of ?? 1) : Infinity;
    return new CopiedFilter({
      ...options,
      leaseMs: replica === 'leased' ? options.leaseMs : undefined,
      maxBytes,
      budget: this.budget,
      open: (onBlocks) => this.inner.openCopyable({ ...options, onBlocks }),
    });
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}
