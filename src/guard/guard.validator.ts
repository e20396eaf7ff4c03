import type { DiscoveryService } from '@nestjs/core';
import { BloomConfigError } from '../common/index.js';
import type { BloomService } from '../service/index.js';
import { type FilterUse, usesOf } from './filter-uses.js';
import { filterNotRegistered } from './guard.messages.js';
import { findSingletons } from './singletons.js';

/** Finds decorators that name a filter nobody registered. */
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
    const lost = [...this.uses()].filter(({ filter }) => !this.service.has(filter));
    if (lost.length === 0) return;
    const lines = lost.map(filterNotRegistered);
    throw new BloomConfigError([...lines, this.service.registered()].join('\n'));
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
