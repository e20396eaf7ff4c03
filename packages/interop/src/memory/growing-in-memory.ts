import { BLOCK_BYTES, type IdKey } from 'nestjs-bloom/filter';
import {
  assertNotTooLong,
  type InMemoryFilter,
  type InMemoryScan,
  StoredFilterInMemory,
} from 'nestjs-bloom/internal';
import type { FilterShape, OpenFilterOptions, StagePlan, StoredFilter } from 'nestjs-bloom/store';
import type { ScalingOptions } from '../scaling/growing-plan.js';
import { ScalableFilter } from '../scaling/scalable-filter.js';

/** A filter that grows by layers; when it cannot have a further one, the last one takes what comes. */
class InMemoryGrowingFilter implements InMemoryFilter {
  private readonly filter: ScalableFilter;

  constructor(
    private readonly plan: StagePlan,
    scaling: ScalingOptions,
  ) {
    this.filter = new ScalableFilter({ ...plan, scaling }, { maxIdBytes: plan.maxIdBytes, overfills: true });
  }

  get capacity(): number {
    return this.filter.describe().reduce((sum, { plan }) => sum + plan.capacity, 0);
  }

  get bytes(): number {
    return this.filter.describe().reduce((sum, { plan }) => sum + plan.blocks * BLOCK_BYTES, 0);
  }

  assertFits(id: IdKey): void {
    const { maxIdBytes } = this.plan;
    assertNotTooLong(id, maxIdBytes);
  }

  addKey(id: IdKey): boolean {
    return this.filter.addKey(id);
  }

  mightContainKey(id: IdKey): boolean {
    return this.filter.mightContainKey(id);
  }

  /** Ids that were read from no source count as they were added: its layers know how many they hold. */
  shape(): FilterShape {
    const { filter, bytes } = this;
    return {
      hashCount: filter.describe().at(-1)!.plan.hashCount,
      bytes,
      get modelledErrorRate() {
        return filter.measuredErrorRate;
      },
      get fillRatio() {
        return filter.fillRatio;
      },
    };
  }

  /**
   * Layers of two filters cannot be merged: what is scanned goes to the filter itself, which takes any number
   * of ids.
   */
  scan(): InMemoryScan {
    return { capacity: Infinity, local: this.filter, *merge() {} };
  }
}

export function openGrowingInMemory(context: OpenFilterOptions, scaling: ScalingOptions): StoredFilter {
  return new StoredFilterInMemory(context, (plan) => new InMemoryGrowingFilter(plan, scaling));
}
