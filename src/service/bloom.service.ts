import { BloomConfigError, type BloomEventListener } from '../common/index.js';
import type { BloomFilter, GuardableFilter } from './bloom-filter.js';

/** All filters of an application, by name. Injectable wherever the module is visible. */
export class BloomService {
  private readonly byName = new Map<string, GuardableFilter>();

  constructor(readonly emit: BloomEventListener) {}

  /** @throws {BloomConfigError} when no filter of this name is registered. */
  filter(name: string): BloomFilter {
    return this.guardable(name);
  }

  /** For guards: undefined when no filter of this name is registered. */
  find(name: string): GuardableFilter | undefined {
    return this.byName.get(name);
  }

  /** As `filter`, for guards. */
  guardable(name: string): GuardableFilter {
    const filter = this.byName.get(name);
    if (!filter) throw new BloomConfigError(`No filter is named '${name}'. ${this.registered()}`);
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
    const names = [...this.byName.keys()].map((name) => `'${name}'`).join(', ');
    return (
      (names ? `Registered filters: ${names}. ` : 'No filter is registered. ') +
      'Register it with BloomModule.forFeature([{ name, capacity, … }]) or forRoot({ filters }), or correct the name.'
    );
  }

  /** @throws {BloomConfigError} when the name is taken. */
  register(filter: GuardableFilter): void {
    if (this.byName.has(filter.name)) {
      throw new BloomConfigError(
        `Two filters are named '${filter.name}'. Register each filter once, and inject it where it is needed.`,
      );
    }
    this.byName.set(filter.name, filter);
  }
}
