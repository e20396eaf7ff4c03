import { Logger } from '@nestjs/common';
import { BloomConfigError } from '../common/index.js';
import { contextOf } from './call-context.js';
import { type FilterUse, usesOf, usesOfAll } from './filter-uses.js';
import { skipAndGuard, skipsNothing } from './guard.messages.js';
import { skipOf } from './skip-bloom.decorator.js';

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
  for (const text of warnings) new Logger('Bloom').warn(text);
}

function inheritsGuard(prototype: object, key: PropertyKey): boolean {
  const parent = Object.getPrototypeOf(prototype) as object | null;
  return parent !== null && [...usesOfAll(parent)].some((use) => use.key === key && isGuard(use));
}

function isGuard({ decorator }: FilterUse): boolean {
  return decorator !== 'BloomRegisters';
}
