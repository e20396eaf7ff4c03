import type { MethodSite } from './method-site.js';

/** What `@nestjs/graphql` keeps of each query, mutation and subscription that is declared in code. */
interface FieldMetadata {
  readonly target: unknown;
  readonly methodName: string;
  readonly returnTypeOptions?: { readonly nullable?: unknown };
}

const LISTS = ['getQueriesMetadata', 'getMutationsMetadata', 'getSubscriptionsMetadata'] as const;

/**
 * Whether the field that a resolver method answers may be null. Known by the `info` among its arguments, or by its decorator where the schema is made from
 * code; where it is not known, as with a schema that stands in a file, it may.
 */
export function isNullableField({ target, key }: MethodSite, args: readonly unknown[]): boolean {
  for (const arg of args) if (isInfo(arg)) return !String(arg.returnType).endsWith('!');
  // The package keeps its one storage there for all its copies.
  const storage = (globalThis as { GqlTypeMetadataStorage?: Record<string, unknown> }).GqlTypeMetadataStorage;
  for (const list of LISTS) {
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
  return (
    typeof arg === 'object' &&
    arg !== null &&
    ['fieldName', 'parentType', 'returnType', 'schema'].every((key) => key in arg)
  );
}
