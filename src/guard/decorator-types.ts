import type { AnyInstance } from './filter-name.js';
import type { GuardedManyVerdict } from './many-verdict.js';
import type { GuardedVerdict, ListVerdict, RegistersVerdict, OtherSelf } from './method-verdict.js';

type ListMethod = (...args: never[]) => Promise<readonly unknown[]>;

/**
 * Puts a guard on a method that returns a promise, and that the id can be read of. On any other method it is a compile error, whose text
 * says what to write.
 */
export interface BloomGuardedDecorator<Options = {}, Self = AnyInstance> {
  <Target extends Self & object, Method extends ListMethod>(
    target: Target,
    key: string | symbol,
    descriptor: TypedPropertyDescriptor<Method>,
  ): GuardedVerdict<Target, Method, Options> | ListVerdict<Method, Options>;
  <Target extends Self & object, Method>(
    target: Target,
    key: string | symbol,
    descriptor: TypedPropertyDescriptor<Method>,
  ): GuardedVerdict<Target, Method, Options>;
  /** For `applyDecorators` of Nest: it takes decorators of any method, and what it composes is not checked by the compiler. */
  <Method>(
    target: object,
    key: string | symbol,
    descriptor: TypedPropertyDescriptor<Method>,
  ): OtherSelf<Self>;
}

/** As `BloomGuardedDecorator`, for methods whose first argument is a list of ids. */
export interface BloomGuardedManyDecorator<Options = {}, Self = AnyInstance> {
  <Target extends Self & object, Method>(
    target: Target,
    key: string | symbol,
    descriptor: TypedPropertyDescriptor<Method>,
  ): GuardedManyVerdict<Method, Options>;
  <Method>(
    target: object,
    key: string | symbol,
    descriptor: TypedPropertyDescriptor<Method>,
  ): OtherSelf<Self>;
}

/** As `BloomGuardedDecorator`, for methods that create what the ids name. */
export interface BloomRegistersDecorator<Options = {}, Self = AnyInstance> {
  <Target extends Self & object, Method>(
    target: Target,
    key: string | symbol,
    descriptor: TypedPropertyDescriptor<Method>,
  ): RegistersVerdict<Target, Method, Options>;
  <Method>(
    target: object,
    key: string | symbol,
    descriptor: TypedPropertyDescriptor<Method>,
  ): OtherSelf<Self>;
}
