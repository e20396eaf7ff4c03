import { BloomConfigError, type BloomEventListener } from '../common/index.js';
import type { BloomFilter, GuardableFilter } from './bloom-filter.js';
import { registeredFilters, twoFilters, unknownFilter } from './service.messages.js';

/** All filters of an application, by name. Injectable wherever the module is visible. */
export class BloomService {
  private readonly byName = new Map<string, GuardableFilter>();

  /** @internal */
  constructor(readonly emit: BloomEventListener) {}

  /** @throws {BloomConfigError} when no filter of this name is registered. */
  filter(name: string): BloomFilter {
    return this.guardable(name);
  }

  /**
   * For guards: undefined when no filter of this name is registered.
   *
   * @internal
   */
  find(name: string): GuardableFilter | undefined {
    return this.byName.get(name);
  }

  /**
   * As `filter`, for guards.
   *
   * @internal
   */
  guardable(name: string): GuardableFilter {
    const filter = this.byName.get(name);
    if (!filter) throw new BloomConfigError(unknownFilter(name, this.registered()));
    return filter;
  }

  filters(): BloomFilter[] {
    return [...this.byName.values()];
  }

  has(name: string): boolean {
    return this.byName.has(name);
  }

  /** For error messages: which filters exist, and how to register one. */
  registered(): string {
    return registeredFilters([...this.byName.keys()]);
  }

  /**
   * @internal
   * @throws {BloomConfigError} when the name is taken.
   */
  register(filter: GuardableFilter): void {
    if (this.byName.has(filter.name)) {
      throw new BloomConfigError(twoFilters(filter.name));
    }
    this.byName.set(filter.name, filter);
  }
}
