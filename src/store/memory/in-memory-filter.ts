import {
  BlockedFilter,
  type BloomLayout,
  type FilterLayout,
  type FilterShape,
  generationOf,
  type IdKey,
  isOutgrown,
  measuredFillOf,
  shapeOf,
  tooLong,
} from '../../filter/index.js';
import type { LocalFilter, OpenFilterOptions, StagePlan, StoredFilter } from '../index.js';

/** Bytes merged in one step. */
const MERGE_STEP_BYTES = 1 << 20;

/** A layout whose filters can be in the memory of this process. */
export interface MemoryLayout extends FilterLayout {
  openInMemory(context: OpenFilterOptions): StoredFilter;
}

export function opensInMemory(layout: BloomLayout): layout is MemoryLayout {
  return typeof (layout as Partial<MemoryLayout>).openInMemory === 'function';
}

/** A filter in the memory of this process, of one layout. */
export interface InMemoryFilter {
  /** Distinct ids that it holds at its error rate. */
  readonly capacity: number;
  readonly bytes: number;

  /** @throws {BloomIdError} for an id that cannot be added. */
  assertFits(id: IdKey): void;

  /** True when the id was not there before. */
  addKey(id: IdKey): boolean;

  mightContainKey(id: IdKey): boolean;

  /** What it is like when it holds so many ids. */
  shape(ids: number): FilterShape;

  /** A place for what a scan reads. */
  scan(): InMemoryScan;
}

export interface InMemoryScan {
  /** Distinct ids it takes before a larger filter has to be planned. */
  readonly capacity: number;
  readonly local: LocalFilter;
  /** Whether another plan is needed for what is in `local`. */
  readonly isOutgrown?: boolean;

  /** Brings all that is in `local` into the filter, a step at a time. */
  merge(): Iterable<void>;
}

export class InMemoryBlockedFilter implements InMemoryFilter {
  readonly capacity: number;
  readonly bytes: number;
  private readonly filter: BlockedFilter;
  private readonly errorRate: number;

  constructor(plan: StagePlan) {
    this.errorRate = plan.errorRate;
    this.filter = new BlockedFilter(generationOf(plan));
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

  removeKey(id: IdKey): boolean {
    return this.filter.removeKey(id);
  }

  mightContainKey(id: IdKey): boolean {
    return this.filter.mightContainKey(id);
  }

  shape(ids: number): FilterShape {
    const { generation, bytes } = this.filter;
    return {
      ...shapeOf(generation, ids),
      get modelledErrorRate() {
        return measuredFillOf(bytes, generation).errorRate;
      },
      get fillRatio() {
        return measuredFillOf(bytes, generation).fillRatio;
      },
    };
  }

  scan(): InMemoryScan {
    const { errorRate } = this;
    const { bytes, generation } = this.filter;
    const local = new BlockedFilter(generation);
    return {
      capacity: this.capacity,
      local,
      get isOutgrown() {
        return isOutgrown(local, errorRate);
      },
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
