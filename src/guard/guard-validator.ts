import type { DiscoveryService } from '@nestjs/core';
import { BloomConfigError, describeError } from '../common/index.js';
import type { BloomService } from '../service/index.js';
import { findSingletons } from './call-sharing.js';
import { expectScope, type FilterUse, usesOfAll } from './filter-name.js';
import {
  filterNotRegistered,
  hookNotRegistered,
  hookWithoutScope,
  namedNotRegistered,
  unreadByInterceptor,
} from './guard.messages.js';
import { unreadOptions } from './interceptor-coverage.js';
import { checkSkips } from './skip-bloom.decorator.js';

/** Finds decorators that name a filter nobody registered, or that nobody obeys. */
export class GuardValidator {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly service: BloomService,
  ) {}

  /**
   * Called when all filters are registered.
   *
   * @throws {BloomConfigError} that names every such class and method.
   */
  validate(): void {
    const lines = new Set(
      [...this.classes()]
        .flatMap(unreadOptions)
        .map(({ guard: { method, filter }, option }) => unreadByInterceptor(method, filter, option)),
    );
    const uses = [...this.uses()].filter(({ filter: { name } }) => name !== undefined);
    for (const use of uses) collect(lines, () => expectScope(use, this.service.find(use.filter.name!)));
    const lost = uses.filter(({ filter: { name } }) => !this.service.has(name!));
    for (const use of lost) lines.add(filterNotRegistered(use));
    if (lost.length > 0) lines.add(this.service.registered());
    if (lines.size > 0) throw new BloomConfigError([...lines].join('\n'));
  }

  /**
   * The same for filters that instances name. Called when all instances have been initialised: they may set
   * the name then.
   *
   * @param recorded filters that write hooks of libraries name. Those that check theirs have done so.
   * @throws {BloomConfigError} that names every such class, method and filter.
   */
  validateNames(recorded: Iterable<string>): void {
    const unknown = [...recorded].filter((name) => !this.service.has(name));
    const lines = new Set(unknown.map(hookNotRegistered));
    for (const name of recorded)
      if (this.service.find(name)?.keys.isScoped) lines.add(hookWithoutScope(name));
    let isLost = unknown.length > 0;
    for (const object of this.singletons()) {
      for (const use of usesOfAll(Object.getPrototypeOf(object))) {
        if (use.filter.name !== undefined) continue;
        collect(lines, () => {
          const name = use.filter.nameOf(object);
          const filter = this.service.find(name);
          if (filter) return expectScope(use, filter);
          isLost = true;
          lines.add(namedNotRegistered(use, name, object.constructor.name));
        });
      }
    }
    if (isLost) lines.add(this.service.registered());
    if (lines.size > 0) throw new BloomConfigError([...lines].join('\n'));
  }

  /**
   * The same for `@SkipBloom()`; warns of one that skips nothing.
   *
   * @param coversRoutes whether an interceptor guards routes that declare no guard.
   * @throws {BloomConfigError} for one beside a guard.
   */
  validateSkips(coversRoutes: boolean): void {
    checkSkips(this.classes(), coversRoutes);
  }

  /** Whether `@BloomRegisters` of a class of the application adds the ids of a filter. */
  isRegistered(filter: string): boolean {
    const isOf = (use: FilterUse, object?: object) =>
      use.decorator === 'BloomRegisters' &&
      (use.filter.name ?? (object && use.filter.nameOf(object))) === filter;
    if ([...this.uses()].some((use) => isOf(use))) return true;
    return [...this.singletons()].some((object) =>
      [...usesOfAll(Object.getPrototypeOf(object))].some((use) => isOf(use, object)),
    );
  }

  /** The objects with guarded methods of which the application has one. */
  singletons(): Set<object> {
    return findSingletons(this.discovery);
  }

  /** What the decorators of all classes name that Nest makes objects of. */
  uses(): Set<FilterUse> {
    const uses = new Set<FilterUse>();
    for (const { metatype, instance } of this.wrappers()) {
      // A factory may have made an object of another class.
      const made = typeof instance === 'object' && instance !== null ? Object.getPrototypeOf(instance) : null;
      for (const prototype of [metatype?.prototype, made])
        for (const use of usesOfAll(prototype)) uses.add(use);
    }
    return uses;
  }

  /** The classes that Nest constructs objects of. */
  private classes(): Set<Function> {
    const classes = this.wrappers().map(({ metatype }) => metatype as unknown);
    return new Set(
      classes.filter((one): one is Function => typeof one === 'function' && Boolean(one.prototype)),
    );
  }

  private wrappers() {
    return [...this.discovery.getProviders(), ...this.discovery.getControllers()];
  }
}

/** Adds the mistake that is thrown, if any, to those of the application. */
function collect(lines: Set<string>, check: () => void): void {
  try {
    check();
  } catch (error) {
    lines.add(describeError(error));
  }
}
