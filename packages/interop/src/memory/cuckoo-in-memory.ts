import type { IdKey } from 'nestjs-bloom/filter';
import {
  assertNotTooLong,
  type InMemoryFilter,
  type InMemoryScan,
  StoredFilterInMemory,
} from 'nestjs-bloom/internal';
import {
  type FilterShape,
  isLongerThan,
  type OpenFilterOptions,
  type StagePlan,
  type StoredFilter,
} from 'nestjs-bloom/store';
import { cuckooCodec, type CuckooLayoutOptions } from '../formats/cuckoo-codec.js';
import type { CuckooFilter } from '../formats/cuckoo-filter.js';
import type { CuckooLayout } from '../formats/cuckoo-layout.js';
import type { LayoutPlan } from '../layout-plan.js';

/** How often an id is kept that is added again and again, before it can no longer be removed. */
const MOST_COPIES = 4;

/**
 * A cuckoo filter from which no other id than the one that is meant can vanish, provided that only ids are
 * removed that were added.
 */
class InMemoryCuckooFilter implements RemovableInMemoryFilter {
  readonly capacity: number;

  private readonly plan: LayoutPlan<CuckooLayoutOptions>;
  private readonly maxIdBytes: number;
  private readonly filter: CuckooFilter;
  private readonly first: CuckooLayout;
  /**
   * Fingerprints, each with its bucket in the first table, that adds have relied on without adding a further
   * one: they must stay. Ids that meet in a larger table meet in the first one too.
   */
  private readonly kept = new Set<number>();

  constructor({ capacity, errorRate, maxIdBytes }: StagePlan, options: CuckooLayoutOptions) {
    this.plan = cuckooCodec.plan({ ...options, capacity, errorRate });
    this.capacity = capacity;
    this.maxIdBytes = maxIdBytes;
    this.filter = cuckooCodec.create({ ...this.plan.layout, capacity: this.plan.bytes });
    this.first = cuckooCodec.layout(this.filter.describe());
  }

  get bytes(): number {
    return this.filter.bytes;
  }

  assertFits(id: IdKey): void {
    assertNotTooLong(id, this.maxIdBytes);
  }

  addKey(id: IdKey): boolean {
    this.assertFits(id);
    const copies = this.filter.count(id);
    if (copies < MOST_COPIES) this.filter.add(id);
    else this.kept.add(this.markOf(id));
    return copies === 0;
  }

  mightContainKey(id: IdKey): boolean {
    return !isLongerThan(id, this.maxIdBytes) && this.filter.mightContain(id);
  }

  removeKey(id: IdKey): boolean {
    if (isLongerThan(id, this.maxIdBytes) || this.kept.has(this.markOf(id))) return false;
    return this.filter.remove(id);
  }

  shape(): FilterShape {
    const { plan, bytes, filter } = this;
    return {
      hashCount: plan.hashCount,
      bytes,
      get modelledErrorRate() {
        return filter.estimate().errorRate;
      },
    };
  }

  /** What is scanned goes to the filter itself: a fingerprint for each id, so that each can be removed. */
  scan(): InMemoryScan {
    const add = (id: IdKey) => this.addKey(id);
    return { capacity: this.capacity, local: { addKey: add }, *merge() {} };
  }

  private markOf(id: IdKey): number {
    return Math.min(...this.first.positions(id)) * 256 + this.first.fingerprintOf(id);
  }
}

/** A filter in the memory of this process, of a layout that can remove ids. */
interface RemovableInMemoryFilter extends InMemoryFilter {
  /** False when the id is certainly not there, or has to stay. */
  removeKey(id: IdKey): boolean;
}

class RemovableFilterInMemory extends StoredFilterInMemory<RemovableInMemoryFilter> implements StoredFilter {
  async remove(ids: readonly IdKey[]): Promise<boolean[]> {
    return ids.map((id) => this.removeOne(id));
  }

  /**
   * From the live generation only. One that is staged may not have the id, and could lose another for it;
   * what it has is gone with the build after it. Nor may one that has just gone live, if the row was deleted
   * while it was built.
   */
  private removeOne(id: IdKey): boolean {
    const { hasSource, drainMs, clock } = this.options;
    if (hasSource && this.live && clock.now() - this.live.since < drainMs) return false;
    const isRemoved = this.live?.filter.removeKey(id) ?? false;
    if (isRemoved) this.added--;
    return isRemoved;
  }
}

export function openCuckooInMemory(context: OpenFilterOptions, options: CuckooLayoutOptions): StoredFilter {
  return new RemovableFilterInMemory(context, (plan) => new InMemoryCuckooFilter(plan, options));
}
