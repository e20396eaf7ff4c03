import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import { BloomConfigError, withHelp } from '../common/index.js';
import { contextOf } from './call-context.js';
import { type FilterUse, usesOf, usesOfAll } from './filter-name.js';
import { skipAndGuard, skipsNothing } from './guard.messages.js';

const SKIP = 'nestjs-bloom:skip';

/** Whether the decorator stands anywhere in this process: without it nobody looks for it. */
let isUsed = false;

/**
 * Leaves a method, or all methods of a class, to themselves: a guard that the method inherits, and a
 * `BloomInterceptor` that is bound to the controller or globally, do not ask the filter. Calls of the guarded
 * method by `super` on such an object are not checked either. What `@BloomRegisters` records is recorded all
 * the same.
 *
 * Beside `@BloomGuarded` or `@BloomGuardedMany` on one method it is an error at start. Where there is nothing
 * to skip, a warning at start says so.
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

/**
 * What the decorator on this very method or class says, or on a class that it extends; undefined without one.
 */
function skipOf(target: unknown): boolean | undefined {
  return typeof target === 'function' ? Reflect.getMetadata(SKIP, target) : undefined;
}

/**
 * Looks at every `@SkipBloom()` of these classes; warns of one that skips nothing, as far as anybody can see.
 *
 * @param coversRoutes whether an interceptor guards routes that declare no guard.
 * @throws {BloomConfigError} for one beside a guard.
 */
export function checkSkips(classes: Iterable<Function>, coversRoutes: boolean): void {
  const mistakes = new Set<string>();
  const warnings = new Set<string>();
  for (const owner of classes) {
    const prototype = owner.prototype as object;
    if (skipOf(owner) && !coversRoutes && ![...usesOfAll(prototype)].some(isGuard))
      warnings.add(skipsNothing(owner.name));
    for (let at = prototype; at && at !== Object.prototype; at = Object.getPrototypeOf(at) as object) {
      for (const key of Reflect.ownKeys(at)) {
        const method: unknown = Object.getOwnPropertyDescriptor(at, key)!.value;
        // Its class is the `constructor` of a prototype.
        if (key === 'constructor' || skipOf(method) !== true) continue;
        const name = `${at.constructor.name}.${String(key)}`;
        const beside = usesOf(at).find((use) => use.key === key && isGuard(use));
        if (beside) mistakes.add(skipAndGuard(beside, name));
        else if (!inheritsGuard(at, key) && !(coversRoutes && contextOf(method) !== 'method'))
          warnings.add(skipsNothing(name));
      }
    }
  }
  if (mistakes.size > 0) throw new BloomConfigError([...mistakes].join('\n'));
  for (const text of warnings) new Logger('Bloom').warn(withHelp(text));
}

function inheritsGuard(prototype: object, key: PropertyKey): boolean {
  const parent = Object.getPrototypeOf(prototype) as object | null;
  return parent !== null && [...usesOfAll(parent)].some((use) => use.key === key && isGuard(use));
}

function isGuard({ decorator }: FilterUse): boolean {
  return decorator !== 'BloomRegisters';
}
