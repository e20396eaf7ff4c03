import type { DiscoveryService } from '@nestjs/core';
import { usesOf } from './filter-uses.js';

/**
 * The objects with guarded methods of which the application has one that every caller shares: no request-scoped, durable or
 * transient ones.
 */
export function findSingletons(discovery: DiscoveryService): Set<object> {
  const found = new Set<object>();
  for (const wrapper of [...discovery.getProviders(), ...discovery.getControllers()]) {
    if (wrapper.isTransient || !wrapper.isDependencyTreeStatic()) continue;
    const instance: unknown = wrapper.instance;
    if (typeof instance === 'object' && instance !== null && hasUses(Object.getPrototypeOf(instance)))
      found.add(instance);
  }
  return found;
}

/** Whether a method of this prototype, or of one that it inherits from, uses a filter. */
export function hasUses(prototype: object): boolean {
  for (let at = prototype; at; at = Object.getPrototypeOf(at)) if (usesOf(at).length > 0) return true;
  return false;
}
