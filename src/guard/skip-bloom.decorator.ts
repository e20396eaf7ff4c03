import 'reflect-metadata';

const SKIP = 'nestjs-bloom:skip';

/** Whether the decorator stands anywhere in this process: without it nobody looks for it. */
let isUsed = false;

/**
 * Leaves a method, or all methods of a class, to themselves: a guard that the method inherits, and a `BloomInterceptor` that is bound to the controller or globally, do not ask
 * the filter. Calls of the guarded method by `super` on such an object are not checked either. What `@BloomRegisters` records is recorded all the same.
 *
 * Beside `@BloomGuarded` or `@BloomGuardedMany` on one method it is an error at start. Where there is nothing to skip, a warning at start says so.
 *
 * @param skip false on a method takes it out of the `@SkipBloom()` of its class.
 * @example
 * ```ts
 * class AdminProducts extends ProductRepository {
 *   @SkipBloom()
 *   override find(sku: string) {
 *     return super.find(sku); // asks the database
 *   }
 * }
 * ```
 */
export function SkipBloom(skip = true): MethodDecorator & ClassDecorator {
  return (target: object, _key?: string | symbol, descriptor?: PropertyDescriptor) => {
    isUsed = true;
    Reflect.defineMetadata(SKIP, skip, (descriptor?.value as object | undefined) ?? target);
  };
}

/** Whether a method is left to itself on objects of a class. */
export function isSkipped(handler: unknown, owner: Function): boolean {
  return isUsed && (skipOf(handler) ?? skipOf(owner)) === true;
}

/** What the decorator on this very method or class says, or on a class that it extends; undefined without one. */
export function skipOf(target: unknown): boolean | undefined {
  return typeof target === 'function'
    ? (Reflect.getMetadata(SKIP, target) as boolean | undefined)
    : undefined;
}
