import 'reflect-metadata';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';

/** Where a method decorator was put. */
export interface MethodSite {
  readonly target: object;
  readonly key: string | symbol;
  readonly descriptor: PropertyDescriptor;
}

/**
 * The caller of a method: Nest for a request (`http`), for a message of a socket (`ws`), for a message that
 * expects an answer (`rpc`) or for one that does not (`event`), for a field of GraphQL, or the application
 * itself (`method`).
 */
export type CallContext = 'http' | 'ws' | 'rpc' | 'event' | 'graphql' | 'method';

/** `PatternHandler.EVENT` of `@nestjs/microservices`. */
const EVENT = 2;

/** `ProductController.findOne` */
export function methodName({ target, key }: MethodSite): string {
  const owner = typeof target === 'function' ? target : target.constructor;
  return `${owner.name}.${String(key)}`;
}

/** Whether the function is a route handler of Nest. */
export function isRouteHandler(handler: unknown): boolean {
  return (
    typeof handler === 'function' &&
    Reflect.hasMetadata(PATH_METADATA, handler) &&
    Reflect.hasMetadata(METHOD_METADATA, handler)
  );
}

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

/** Where a client waits for the answer, and chooses the id. */
export const FOR_CLIENTS: ReadonlySet<CallContext> = new Set(['http', 'ws', 'rpc', 'graphql']);

/**
 * Reads the context of a decorated method when it is called. Metadata are looked up once: that takes longer
 * than a check.
 *
 * @param isBypassed whether a call of a route handler did not come through its route.
 */
export function contextReader({ target, key }: MethodSite, isBypassed = () => false): () => CallContext {
  let handler: unknown;
  let context: CallContext = 'method';
  return () => {
    // Decorators of Nest may stand above this one, and above wrappers of others: the outermost function
    // counts.
    const outermost = (target as Record<PropertyKey, unknown>)[key];
    if (outermost !== handler) {
      handler = outermost;
      context = contextOf(outermost);
    }
    return context === 'http' && isBypassed() ? 'method' : context;
  };
}

/** What `@nestjs/graphql` keeps of each query, mutation and subscription that is declared in code. */
interface FieldMetadata {
  readonly target: unknown;
  readonly methodName: string;
  readonly returnTypeOptions?: { readonly nullable?: unknown };
}

/**
 * Whether the field that a resolver method answers may be null. The `info` among its arguments says so, or
 * its decorator where the schema is made from code. Where neither does, as with a schema in a file, it may.
 */
export function isNullableField({ target, key }: MethodSite, args: readonly unknown[]): boolean {
  for (const arg of args) if (isInfo(arg)) return !String(arg.returnType).endsWith('!');
  // The package keeps its one storage there for all its copies.
  const storage = (globalThis as { GqlTypeMetadataStorage?: Record<string, unknown> }).GqlTypeMetadataStorage;
  for (const list of ['getQueriesMetadata', 'getMutationsMetadata', 'getSubscriptionsMetadata']) {
    const read = storage?.[list];
    const fields: unknown = typeof read === 'function' ? read.call(storage) : undefined;
    if (!Array.isArray(fields)) continue;
    const field = (fields as FieldMetadata[]).find(
      (one) => one.methodName === key && one.target === target.constructor,
    );
    // Elements that may be null say nothing about their list.
    if (field) return ![undefined, false, 'items'].includes(field.returnTypeOptions?.nullable as never);
  }
  return true;
}

function isInfo(arg: unknown): arg is { readonly returnType: unknown } {
  const keys = ['fieldName', 'parentType', 'returnType', 'schema'];
  return typeof arg === 'object' && arg !== null && keys.every((key) => key in arg);
}
