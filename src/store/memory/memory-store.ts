import { BloomConfigError } from '../../common/index.js';
import type { BloomFilterStore, BloomStore, OpenFilterOptions } from '../index.js';
import { HeldBlockedFilter } from './held-blocked-filter.js';
import { HeldCuckooFilter } from './held-cuckoo-filter.js';
import { HeldScalingFilter } from './held-scaling-filter.js';
import { MemoryFilterStore } from './memory-filter-store.js';

/** Filters in the memory of this process: for one instance, for tests and for development. */
export class MemoryStore implements BloomStore {
  readonly kind = 'memory';

  open(options: OpenFilterOptions): BloomFilterStore {
    const { name, layout } = options;
    switch (layout.kind) {
      case 'blocked': {
        const { scaling } = layout;
        return new MemoryFilterStore(options, (plan) =>
          scaling === undefined ? new HeldBlockedFilter(plan) : new HeldScalingFilter(plan, scaling),
        );
      }
      case 'cuckoo':
        return new MemoryFilterStore(options, (plan) => new HeldCuckooFilter(plan, layout), {
          removes: true,
        });
      default:
        throw new BloomConfigError(
          `Filter '${name}' has the layout ${layout.kind}, which is that of keys in Redis: give BloomModule.forRoot the option redis, or ` +
            "use the layout 'blocked'.",
        );
    }
  }

  async close(): Promise<void> {}
}
