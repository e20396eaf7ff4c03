import type { BloomEventListener } from '../common/index.js';
import {
  type BloomFilter,
  BloomService,
  type ClientRefusals,
  type GuardableFilter,
} from '../service/index.js';
import { DeferredFilter } from './deferred-filter.js';
import type { FilterTokens } from './filter-tokens.js';
import { StandInFilter } from './stand-in-filter.js';

/**
 * Has a filter made when a guard or a test first asks for it: a test that compiles its module may never
 * initialise it.
 */
export class TestingService extends BloomService {
  /** Registers the filter of this name, if the test has one. */
  provide: (name: string) => void = () => {};

  constructor(
    emit: BloomEventListener,
    private readonly tokens: FilterTokens,
  ) {
    super(emit);
  }

  override filter(name: string): BloomFilter {
    return asProvided(this.guardable(name));
  }

  override filters(): BloomFilter[] {
    return [...this.byName.values()].map(asProvided);
  }

  override find(name: string): GuardableFilter | undefined {
    this.findStandIn(name);
    if (!this.byName.has(name)) this.provide(name);
    return this.byName.get(name);
  }

  /** A test counts no clients, and needs no option for it. */
  override refusals(): ClientRefusals {
    return { clientOf: () => undefined, refusedForMs: () => 0 };
  }

  override register(filter: GuardableFilter): void {
    if (!(this.byName.get(filter.name) instanceof StandInFilter)) super.register(filter);
  }

  /** Takes what the test provides under the token of a filter for that filter. */
  private findStandIn(name: string): void {
    const known = this.byName.get(name);
    if (known instanceof StandInFilter) return;
    const original = this.tokens.find(name);
    if (!original || original === known || original instanceof DeferredFilter) return;
    this.byName.set(name, new StandInFilter(name, original, this.emit));
  }
}

function asProvided(filter: GuardableFilter): BloomFilter {
  return filter instanceof StandInFilter ? (filter.original as BloomFilter) : filter;
}
