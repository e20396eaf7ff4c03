import {
  BlockedFilter,
  createGeneration,
  type FilterShape,
  type IdKey,
  measuredFillOf,
  planFilter,
  shapeOf,
  tooLong,
} from '../../filter/index.js';
import type { StagePlan } from '../index.js';
import type { InMemoryFilter, InMemoryScan } from './in-memory-filter.js';

/** Bytes merged in one step. */
const MERGE_STEP_BYTES = 1 << 20;

export class InMemoryBlockedFilter implements InMemoryFilter {
  readonly capacity: number;
  readonly bytes: number;
  private readonly filter: BlockedFilter;

  constructor(plan: StagePlan) {
    this.filter = new BlockedFilter(createGeneration(planFilter(plan), plan.maxIdBytes));
    this.capacity = plan.capacity;
    this.bytes = this.filter.bytes.length;
  }

  assertFits(id: IdKey): void {
    const { layout, generation } = this.filter;
    if (layout.isTooLong(id)) throw tooLong(generation.maxIdBytes);
  }

  addKey(id: IdKey): boolean {
    return this.filter.addKey(id);
  }

  mightContainKey(id: IdKey): boolean {
    return this.filter.mightContainKey(id);
  }

  shape(ids: number): FilterShape {
    const { generation, bytes } = this.filter;
    return {
      ...shapeOf(generation, ids),
      get modelledErrorRate() {
        return measuredFillOf(bytes, generation.hashCount).errorRate;
      },
      get fillRatio() {
        return measuredFillOf(bytes, generation.hashCount).fillRatio;
      },
    };
  }

  scan(): InMemoryScan {
    const { bytes, generation } = this.filter;
    const local = new BlockedFilter(generation);
    return {
      capacity: this.capacity,
      local,
      *merge() {
        for (let at = 0; at < bytes.length; at += MERGE_STEP_BYTES) {
          yield or(bytes, local.bytes, at, Math.min(at + MERGE_STEP_BYTES, bytes.length));
        }
      },
    };
  }
}

function or(target: Uint8Array, source: Uint8Array, from: number, to: number): void {
  for (let i = from; i < to; i++) target[i]! |= source[i]!;
}
