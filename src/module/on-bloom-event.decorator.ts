import 'reflect-metadata';
import { BloomConfigError, type BloomEvent, isEventType } from '../common/index.js';
import { noEventType, onEventOfNoMethod } from './module.messages.js';

/** The name of a kind of event. */
export type BloomEventType = BloomEvent['type'];

/** The events of some types. */
export type BloomEventOf<Type extends BloomEventType> = Extract<BloomEvent, Record<'type', Type>>;

/**
 * Puts a handler on a method that takes the events. A method that expects other ones is a compile error.
 *
 * @typeParam Method the type of that method.
 */
export type BloomEventDecorator<Type extends BloomEventType> = <
  Method extends (event: BloomEventOf<Type>) => unknown,
>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<Method>,
) => void;

const HANDLED = Symbol('nestjs-bloom:events');

/**
 * Calls the method of a provider or controller for every event of these types, or for all events if no type
 * is given. Events of the time before the modules are initialised are handed over then.
 *
 * It is called at once, within the lookup, add or rebuild; no promise that it returns is awaited. An error of
 * it is logged and goes no further.
 *
 * @throws {BloomConfigError} for an unknown event type; at start for a provider that is request-scoped or
 * transient.
 *
 * @example
 * ```ts
 * @Injectable()
 * class Alarms {
 *   @OnBloomEvent('rebuild-failed')
 *   onFailure({ filter, error }: BloomEventOf<'rebuild-failed'>) { … }
 * }
 * ```
 */
export function OnBloomEvent<const Type extends BloomEventType = BloomEventType>(
  ...types: readonly Type[]
): BloomEventDecorator<Type> {
  const unknown = types.find((type) => !isEventType(type));
  if (unknown !== undefined) throw new BloomConfigError(noEventType(unknown));
  return (target, key, descriptor: PropertyDescriptor) => {
    const method: unknown = descriptor?.value;
    if (typeof target === 'function' || typeof method !== 'function')
      throw new BloomConfigError(onEventOfNoMethod(target, key));
    const before: BloomEventType[][] = Reflect.getOwnMetadata(HANDLED, method) ?? [];
    Reflect.defineMetadata(HANDLED, [...before, types], method);
  };
}

/** Whether a method handles an event, by its decorators; undefined for a method without one. */
export function handledBy(method: object): ((event: BloomEvent) => boolean) | undefined {
  const declared: readonly BloomEventType[][] | undefined = Reflect.getOwnMetadata(HANDLED, method);
  return declared && (({ type }) => declared.some((types) => types.length === 0 || types.includes(type)));
}
