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
    if (typeof instance === 'object' && instance !== null && hasUses(instance)) found.add(instance);
  }
  return found;
}

function hasUses(instance: object): boolean {
  for (
    let prototype = Object.getPrototypeOf(instance);
    prototype;
    prototype = Object.getPrototypeOf(prototype)
  ) {
    if (usesOf(prototype).length > 0) return true;
  }
  return false;
}
