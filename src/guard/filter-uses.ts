import 'reflect-metadata';

const USES = Symbol('nestjs-bloom:uses');

/** One use of a filter by a decorator, for the validation at start-up. */
export interface FilterUse {
  readonly decorator: 'BloomGuarded' | 'BloomGuardedMany' | 'BloomRegisters';
  readonly filter: string;
  readonly method: string;
}

/** Notes on a prototype that one of its methods uses a filter. */
export function declareUse(prototype: object, use: FilterUse): void {
  Reflect.defineMetadata(USES, [...usesOf(prototype), use], prototype);
}

/** The uses that the decorators of this very prototype declared. */
export function usesOf(prototype: object): readonly FilterUse[] {
  return Reflect.getOwnMetadata(USES, prototype) ?? [];
}
