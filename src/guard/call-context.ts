import 'reflect-metadata';
import { isRouteHandler, type MethodSite } from './method-site.js';

/**
 * Who calls a method: Nest for a request (`http`), for a message of a socket (`ws`), for a message that expects an answer (`rpc`) or for one that does not
 * (`event`), for a field of GraphQL, or the application itself (`method`).
 */
export type CallContext = 'http' | 'ws' | 'rpc' | 'event' | 'graphql' | 'method';

/** `PatternHandler.EVENT` of `@nestjs/microservices`. */
const EVENT = 2;

/** By the metadata that the decorators of Nest leave on a method: their packages need not be there. */
export function contextOf(handler: unknown): CallContext {
  if (typeof handler !== 'function') return 'method';
  if (isRouteHandler(handler)) return 'http';
  const has = (key: string) => Reflect.hasMetadata(key, handler);
  if (has('websockets:message_mapping')) return 'ws';
  if (has('microservices:pattern'))
    return Reflect.getMetadata('microservices:handler_type', handler) === EVENT ? 'event' : 'rpc';
  const isField = ['resolver_type', 'resolve_property', 'resolve_reference'].some((key) =>
    has(`graphql:${key}`),
  );
  return isField ? 'graphql' : 'method';
}

/** Whether a client waits for the answer, and chooses the id. */
export function isForClient(context: CallContext): boolean {
  return context !== 'method' && context !== 'event';
}

/** Reads the context of a decorated method when it is called. Metadata are looked up once: that takes longer than a check. */
export function contextReader({ target, key }: MethodSite): () => CallContext {
  let handler: unknown;
  let context: CallContext = 'method';
  return () => {
    // Decorators of Nest may stand above this one, and above wrappers of others: the outermost function counts.
    const outermost = (target as Record<PropertyKey, unknown>)[key];
    if (outermost !== handler) {
      handler = outermost;
      context = contextOf(outermost);
    }
    return context;
  };
}
