import type { IdKey } from '../filter/index.js';
import type { FilterStore, OpenFilterOptions } from '../store/index.js';
import type { Behaviour } from './tested-filters.js';
import { TestingFilter } from './testing-filter.js';

/** Filters of a test, in memory. A filter for which the test has named no ids passes everything. */
export class TestingStore implements FilterStore {
  readonly kind = 'memory';

  private readonly filters = new Map<string, TestingFilter>();

  constructor(private readonly behaviour: Behaviour) {}

  open(options: OpenFilterOptions): TestingFilter {
    const { behaviour } = this;
    const isNamed = behaviour.kind !== 'ids' || Object.hasOwn(behaviour.ids, options.name);
    const filter = new TestingFilter(options, isNamed ? behaviour.kind : 'pass-all');
    this.filters.set(options.name, filter);
    return filter;
  }

  /** Puts ids into a filter that was opened, at once. */
  fill(name: string, ids: readonly IdKey[]): void {
    this.filters.get(name)!.fill(ids);
  }

  async close(): Promise<void> {}
}
