import { systemClock } from '../../../src/common/index.js';
import { type BloomUnknownBudget, LookupBudget, SeenIds } from '../../../src/service/index.js';
import type { TestFilter } from './test-filter.js';

/** Gives the filter a budget of calls that it cannot judge. */
export function giveBudget(filter: TestFilter, settings: BloomUnknownBudget): LookupBudget {
  const { guarding } = filter;
  const seen = new SeenIds();
  guarding.seen = seen;
  guarding.budget = new LookupBudget({
    filter: filter.name,
    settings,
    clock: systemClock,
    emit: (event) => filter.events.push(event),
    rankOf: (key) => (seen.has(key) ? 'hinted' : 'other'),
  });
  return guarding.budget;
}

/** Methods that end when they are told to. */
export class HeldCalls {
  readonly held: { readonly id: unknown; end(result?: unknown): void; fail(error: unknown): void }[] = [];

  readonly hold = (id: unknown): Promise<unknown> =>
    new Promise((end, fail) => this.held.push({ id, end, fail }));

  get ids(): unknown[] {
    return this.held.map(({ id }) => id);
  }

  endAll(result?: unknown): void {
    for (const call of this.held.splice(0)) call.end(result);
  }
}
