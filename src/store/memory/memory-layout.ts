import type { BloomLayout, FilterLayout } from '../../filter/index.js';
import type { OpenFilterOptions, StoredFilter } from '../index.js';

/** A layout whose filters can be in the memory of this process. */
export interface MemoryLayout extends FilterLayout {
  openInMemory(context: OpenFilterOptions): StoredFilter;
}

export function opensInMemory(layout: BloomLayout): layout is MemoryLayout {
  return typeof (layout as Partial<MemoryLayout>).openInMemory === 'function';
}
