import type { IdKey } from '../filter/index.js';
import type { CountedMethod, GuardableFilter } from '../service/index.js';
import type { BloomVerdict, DenialAnswer } from '../store/index.js';
import type { CallContext } from './call-context.js';
import type { BloomGuardedOptions } from './guard-options.js';
import type { IdReader } from './id-reader.js';

/** One `@BloomGuarded` on one method. */
export interface GuardDeclaration extends CountedMethod {
  readonly filter: string;
  readonly options: BloomGuardedOptions;
  /** Its number among all guards that decorators have declared in this process, by which a runner finds its filter; undefined for one that is made for one call. */
  readonly number: number | undefined;
}

let declared = 0;

/** A guard that lasts as long as the process. */
export function declaredGuard(
  guard: Pick<GuardDeclaration, 'filter' | 'method' | 'options'>,
): GuardDeclaration {
  return { ...guard, counted: { last: undefined }, number: declared++ };
}

/** How calls come to a guard: as calls of the method itself, or as requests of its route. */
export interface EntryPoint {
  readonly readId: IdReader;
  /** For people: by what function of the application the id is read, if by any. */
  readonly readBy: string;
  context(): CallContext;
  /** Of a field of GraphQL: whether it may be null. */
  isNullable(args: readonly unknown[]): boolean;
  /** What `answerAbsent` of an interceptor answers; undefined where the guard decides. */
  readonly absent: (() => unknown) | undefined;
}

/**
 * A call that a guard decides on. This and what else is made for each call is an object literal and no class: the engine forgets
 * the shape of a class when a garbage collection meets no instance, and with it the compiled code of all that calls pass.
 */
export interface GuardedCall {
  readonly guard: GuardDeclaration;
  readonly entry: EntryPoint;
  readonly self: unknown;
  readonly args: readonly unknown[];
}

/** What was asked for a call. */
export interface AskedCall {
  readonly filter: GuardableFilter;
  /** As the caller wrote it. */
  readonly id: unknown;
  /** Formed once for the call: `normalize` is a function of the application. */
  readonly key: IdKey;
  /**
   * A short text for all spellings of the id. Undefined where nothing needs it, and for an id that is too long to be added: such an id is in no
   * queue, and no call for it is remembered or shared.
   */
  readonly note: string | undefined;
  /** Undefined for a call whose denial says nothing about other calls. */
  readonly denialKey: DenialKey | undefined;
  /** When, by `performance.now()`; 0 where nobody needs it. */
  readonly since: number;
}

/** What was known of a call that was let through, of which something can be learned. */
export interface ObservedCall {
  /** Undefined where nothing of it is needed to learn: in most calls that are let through. */
  readonly asked: AskedCall | undefined;
  readonly verdict: BloomVerdict;
  /** When the filter had answered, by `performance.now()`; 0 where nobody needs it. */
  readonly readAt: number;
  /** What other processes know of the id, where they share it. */
  readonly denial: DenialAnswer | undefined;
}

/** What a denial is remembered by. */
export interface DenialKey {
  /** One text for all spellings of the id, by which an `add` ends the denial. */
  readonly text: string;
  /** What was asked about the id. */
  readonly scope: string;
}
