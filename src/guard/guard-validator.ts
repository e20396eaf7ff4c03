import type { DiscoveryService } from '@nestjs/core';
import { BloomConfigError, describeError } from '../common/index.js';
import type { BloomService } from '../service/index.js';
import { guardsWithUnreadParam } from './bloom.interceptor.js';
import { type FilterUse, usesOf, usesOfAll } from './filter-uses.js';
import { filterNotRegistered, namedNotRegistered, paramWithoutInterceptor } from './guard.messages.js';
import { checkSkips } from './skip-check.js';
import { findSingletons, hasUses } from './singletons.js';

/** Finds decorators that name a filter nobody registered, or that nobody obeys. */
export class GuardValidator {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly service: BloomService,
  ) {}

  /**
   * To be called when all filters are registered.
   *
   * @throws {BloomConfigError} that names every such class and method.
   */
  validate(): void {
    const unread = [...this.classes()].flatMap(guardsWithUnreadParam);
    const lines = new Set(unread.map(({ method, filter }) => paramWithoutInterceptor(method, filter)));
    const lost = [...this.uses()].filter(
      ({ filter: { name } }) => name !== undefined && !this.service.has(name),
    );
    for (const use of lost) lines.add(filterNotRegistered(use));
    if (lost.length > 0) lines.add(this.service.registered());
    if (lines.size > 0) throw new BloomConfigError([...lines].join('\n'));
  }

  /**
   * The same for filters that instances name. To be called when all instances have been initialised: they may set the name then.
   *
   * @throws {BloomConfigError} that names every such class and method.
   */
  validateNames(): void {
    const lines = new Set<string>();
    let isLost = false;
    for (const object of this.singletons()) {
      for (const use of usesOfAll(Object.getPrototypeOf(object))) {
        if (use.filter.name !== undefined) continue;
        const { name, error } = nameFor(object, use);
        if (error !== undefined) lines.add(error);
        else if (!this.service.find(name)) {
          isLost = true;
          lines.add(namedNotRegistered(use, name, object.constructor.name));
        }
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
    const all = [...this.discovery.getProviders(), ...this.discovery.getControllers()];
    const classes = all.map(({ metatype }) => metatype as unknown);
    checkSkips(
      new Set(classes.filter((one): one is Function => typeof one === 'function' && Boolean(one.prototype))),
      coversRoutes,
    );
  }

  /** The objects with guarded methods of which the application has one. */
  singletons(): Set<object> {
    return findSingletons(this.discovery);
  }

  /** What the decorators of all classes name that Nest makes objects of. */
  uses(): Set<FilterUse> {
    const uses = new Set<FilterUse>();
    for (const prototype of this.prototypes()) for (const use of usesOf(prototype)) uses.add(use);
    return uses;
  }

  /** The classes with guarded methods that Nest constructs objects of. */
  private classes(): Set<Function> {
    const found = new Set<Function>();
    for (const { metatype } of [...this.discovery.getProviders(), ...this.discovery.getControllers()]) {
      if (typeof metatype === 'function' && metatype.prototype && hasUses(metatype.prototype))
        found.add(metatype);
    }
    return found;
  }

  /** The prototype chains of all classes that Nest makes objects of, and of the objects that it got from factories. */
  private prototypes(): Set<object> {
    const found = new Set<object>();
    for (const { metatype, instance } of [
      ...this.discovery.getProviders(),
      ...this.discovery.getControllers(),
    ]) {
      const made = typeof instance === 'object' && instance !== null ? Object.getPrototypeOf(instance) : null;
      for (let prototype of [metatype?.prototype, made]) {
        for (; prototype && !found.has(prototype); prototype = Object.getPrototypeOf(prototype))
          found.add(prototype);
      }
    }
    return found;
  }
}

function nameFor(
  object: object,
  { filter }: FilterUse,
):
  | { readonly name: string; readonly error?: undefined }
  | { readonly name?: undefined; readonly error: string } {
  try {
    return { name: filter.nameOf(object) };
  } catch (error) {
    return { error: describeError(error) };
  }
}
