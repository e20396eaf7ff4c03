import 'reflect-metadata';
import { BloomConfigError } from '../common/index.js';
import type { BloomService, GuardableFilter } from '../service/index.js';
import { noFilterName, otherScope } from './guard.messages.js';

const USES = Symbol('nestjs-bloom:uses');

/** The instance of a method: a decorator does not know the class that it stands in. */
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyInstance = any;

/**
 * The name of a filter; or a function of the instance that returns it, for a class that others extend, each
 * with a filter of its own. The function is called once for an instance.
 */
export type BloomFilterName<Self = AnyInstance> = string | ((self: Self) => string);

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
  /** It has the option scope. */
  readonly isScoped: boolean;
}

/**
 * @param decorator for people: `BloomGuarded`.
 * @param method for people: `BaseRepository.find`.
 * @throws {BloomConfigError} for what is neither a name nor a function.
 */
export function namedFilter(filter: BloomFilterName, decorator: string, method: string): NamedFilter {
  if (typeof filter === 'string') return { text: `'${filter}'`, name: filter, nameOf: () => filter };
  const text = '(self) => …';
  const where = `@${decorator}(${text}) on ${method}`;
  if (typeof filter !== 'function')
    throw new BloomConfigError(noFilterName(`@${decorator} on ${method}`, filter));
  const names = new WeakMap<object, string>();
  return {
    text,
    name: undefined,
    nameOf(self) {
      let name = names.get(self);
      if (name === undefined) names.set(self, (name = readName(filter, self, where)));
      return name;
    },
  };
}

function readName(filter: (self: object) => string, self: object, where: string): string {
  let name: unknown;
  try {
    name = filter(self);
  } catch (cause) {
    throw new BloomConfigError(noFilterName(where, cause, self.constructor.name), { cause });
  }
  if (typeof name === 'string' && name !== '') return name;
  throw new BloomConfigError(noFilterName(where, name, self.constructor.name));
}

/** The name of a filter that is registered; undefined, and an event, where there is none. */
export function registeredName(use: FilterUse, self: object, service: BloomService): string | undefined {
  const { filter, method } = use;
  try {
    const name = filter.nameOf(self);
    const found = service.lookUp(name, method);
    expectScope(use, found);
    return found && name;
  } catch (error) {
    service.emit({ type: 'filter-missing', filter: filter.text, method, error });
    return undefined;
  }
}

/** @throws {BloomConfigError} for `scope` where ids have none, and for none where they have one. */
export function expectScope(use: FilterUse, filter: GuardableFilter | undefined): void {
  const isScoped = filter?.keys.isScoped;
  if (isScoped !== undefined && isScoped !== use.isScoped)
    throw new BloomConfigError(otherScope(use, filter!.name));
}

/** Records on a prototype that one of its methods uses a filter. */
export function declareUse(prototype: object, use: FilterUse): void {
  Reflect.defineMetadata(USES, [...usesOf(prototype), use], prototype);
}

/** The uses that the decorators of this very prototype declared. */
export function usesOf(prototype: object): readonly FilterUse[] {
  return Reflect.getOwnMetadata(USES, prototype) ?? [];
}

/** The uses of a prototype and of all that it inherits from. */
export function* usesOfAll(prototype: object): Generator<FilterUse> {
  for (let at = prototype; at; at = Object.getPrototypeOf(at)) yield* usesOf(at);
}
