import 'reflect-metadata';

const USES = Symbol('nestjs-bloom:uses');

/** What a decorator was given as the name of its filter. */
export interface NamedFilter {
  /** For people: the name in quotes, or what stands for a function. */
  readonly text: string;
  /** Undefined where each instance has its own. */
  readonly name: string | undefined;
  /** @throws {BloomConfigError} where the function of the application gives no name. */
  nameOf(self: object): string;
}

/** One use of a filter by a decorator, for the validation at start-up. */
export interface FilterUse {
  readonly decorator: 'BloomGuarded' | 'BloomGuardedMany' | 'BloomRegisters';
  readonly filter: NamedFilter;
  readonly method: string;
  readonly key: string | symbol;
}

/** Notes on a prototype that one of its methods uses a filter. */
export function declareUse(prototype: object, use: FilterUse): void {
  Reflect.defineMetadata(USES, [...usesOf(prototype), use], prototype);
}

/** The uses that the decorators of this very prototype declared. */
export function usesOf(prototype: object): readonly FilterUse[] {
  return Reflect.getOwnMetadata(USES, prototype) ?? [];
}

/** Those of a prototype and of all that it inherits from. */
export function* usesOfAll(prototype: object): Generator<FilterUse> {
  for (let at = prototype; at; at = Object.getPrototypeOf(at)) yield* usesOf(at);
}
