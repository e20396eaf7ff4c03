import { HttpException } from '@nestjs/common';
import { BloomIdError } from '../common/index.js';
import { type BloomId, type BloomScope, type IdKey, scopedBy } from '../filter/index.js';
import type { CountedMethod, GuardableFilter, LimitRule, UnjudgedCall } from '../service/index.js';
import type { DenialAnswer } from '../store/index.js';
import type { CallContext } from './call-context.js';
import {
  arrayForOneId,
  noRouteParameter,
  promiseFromOption,
  scopeThrew,
  tooManyIds,
} from './guard.messages.js';
import type { BloomCallback, BloomGuardedOptions, BloomRegistersOptions } from './guard-options.js';

/** One `@BloomGuarded` on one method. */
export interface GuardDeclaration extends CountedMethod {
  readonly filter: string;
  readonly options: BloomGuardedOptions;
  /**
   * Its number among all guards that decorators have declared in this process, by which a runner finds its
   * filter; undefined for one that is made for one call.
   */
  readonly number: number | undefined;
}

/** How calls come to a guard: as calls of the method itself, or as requests of its route. */
export interface EntryPoint {
  readonly readId: IdReader;
  /** For people: by what function of the application the id is read, if by any. */
  readonly readBy: string;
  context(): CallContext;
  /** Whether the field of GraphQL that the call is for may be null. */
  isNullable(args: readonly unknown[]): boolean;
  /** What `answerAbsent` of an interceptor answers; undefined where the guard decides. */
  readonly absent: (() => unknown) | undefined;
  /** What answers an absent id at once, whatever the guard says. */
  readonly denied?: GuardAnswer;
}

/**
 * A call that a guard decides on, and what the decision has found out. Object literals with the same members
 * and no class: the engine forgets the shape of a class when a garbage collection meets no instance, and with
 * it the compiled code of all that calls pass.
 */
export interface GuardedCall {
  readonly guard: GuardDeclaration;
  readonly entry: EntryPoint;
  readonly self: unknown;
  readonly args: readonly unknown[];
  /** Undefined where the filter is not registered. */
  filter: GuardableFilter | undefined;
  /** As the caller wrote it. */
  id: unknown;
  /** Formed once for the call: `normalize` is a function of the application. */
  key: IdKey | undefined;
  /**
   * A short text for all spellings of the id. Undefined where nothing needs it, and for an id that is too
   * long to be added: such an id is in no queue, and no call for it is remembered or shared.
   */
  note: string | undefined;
  /** Undefined for a call whose denial says nothing about other calls. */
  denialKey: DenialKey | undefined;
  /**
   * What the method of a call that is let through is compared with; undefined where nothing is learned of it.
   */
  verdict: 'maybe' | 'absent' | undefined;
  /** Whether it takes a place later: it may join a running call, or nobody waits for the route any more. */
  isPlaceDue: boolean;
  /** Its place in the budget of calls that the filter cannot judge, while it runs. */
  unjudged: UnjudgedCall | undefined;
  /** What is told of the load as the method begins and ends; undefined where nobody wants to know. */
  load: LimitRule | undefined;
  /** What `load` has returned. */
  startedAt: number;
  /** Whether the store has answered over the network: no copy in this process knows the id. */
  isRemote: boolean;
  /** When the filter had answered, by `performance.now()`; 0 where nobody needs it. */
  readAt: number;
  /** What other processes know of the id, where they share it. */
  denial: DenialAnswer | undefined;
  /** Whether the method runs for another caller: that run may have begun before the decision. */
  isJoined: boolean;
}

/** What a denial is remembered by. */
export interface DenialKey {
  /** One text for all spellings of the id, by which an `add` ends the denial. */
  readonly text: string;
  /** What was asked about the id. */
  readonly scope: string;
}

/**
 * What a call is answered with in place of its method: a value, or the error with which it ends. The error is
 * not thrown here: a throw takes several times as long as the check.
 */
export interface GuardAnswer {
  readonly value: unknown;
  readonly error: Error | undefined;
}

/** Undefined: the call is let through. */
export type GuardDecision = GuardAnswer | undefined;

/** What was decided on a request before its route runs. */
export interface EarlyCall {
  readonly call: GuardedCall;
  readonly decided: GuardDecision | Promise<GuardDecision>;
}

let declared = 0;

/** A guard that lasts as long as the process. */
export function declaredGuard(
  guard: Pick<GuardDeclaration, 'filter' | 'method' | 'options'>,
): GuardDeclaration {
  return { ...guard, counted: { last: undefined }, number: declared++ };
}

export function guardedCall(
  guard: GuardDeclaration,
  entry: EntryPoint,
  self: unknown,
  args: readonly unknown[],
): GuardedCall {
  return {
    guard,
    entry,
    self,
    args,
    filter: undefined,
    id: undefined,
    key: undefined,
    note: undefined,
    denialKey: undefined,
    verdict: undefined,
    isPlaceDue: false,
    unjudged: undefined,
    isRemote: false,
    load: undefined,
    startedAt: 0,
    readAt: 0,
    denial: undefined,
    isJoined: false,
  };
}

/** Tells the load that the method of a judged call begins. */
export function beginLoad(call: GuardedCall): void {
  if (call.verdict !== 'maybe') return;
  call.load = call.filter!.guarding.budget?.load;
  if (call.load) call.startedAt = call.load.begin();
}

/** @throws the error of the answer. */
export function answeredValue({ value, error }: GuardAnswer): unknown {
  if (error !== undefined) throw error;
  return value;
}

/**
 * Reads the id in the arguments of a call.
 *
 * @throws what a function of the application throws, and a `ReaderMistake` when it returns a promise.
 */
export type IdReader = (self: unknown, args: readonly unknown[]) => unknown;

/**
 * As `IdReader`, for a call that creates rows: the application's own function may return several ids.
 *
 * @param made a further id of the call; undefined where there is none.
 */
export type IdsReader = (self: unknown, args: readonly unknown[], made?: unknown) => readonly BloomId[];

type Place = string | BloomCallback<unknown> | undefined;

/**
 * A mistake in how the application reads an id. No value of a client causes it, so it makes no row absent.
 */
export class ReaderMistake extends TypeError {}

/** The first argument, a property of it, or what a function makes of all, in the scope of the call. */
export function idReader({ id, scope }: { readonly id?: Place; readonly scope?: Place }): IdReader {
  return inScope(readerOf('id', id), scope === undefined ? undefined : readerOf('scope', scope));
}

function readerOf(option: string, place: Place): IdReader {
  if (place === undefined) return (_, args) => args[0];
  if (typeof place === 'string')
    return (_, args) => (args[0] as Record<string, unknown> | undefined)?.[place];
  return (self, args) => syncAnswer(`the option ${option}`, place.apply(self, [...args]));
}

function inScope(readId: IdReader, readScope: IdReader | undefined): IdReader {
  if (!readScope) return readId;
  return (self, args) => scopeOf(readScope, self, args)(readId(self, args));
}

/**
 * Puts ids into the scope of a call.
 *
 * @throws {BloomConfigError} for what cannot be a scope.
 * @throws {ReaderMistake} for an error of the function of the application.
 */
function scopeOf(readScope: IdReader, self: unknown, args: readonly unknown[]): (id: unknown) => unknown {
  let scope: BloomScope;
  try {
    scope = readScope(self, args) as BloomScope;
  } catch (error) {
    if (isInvalidId(error) || error instanceof ReaderMistake) throw error;
    throw new ReaderMistake(scopeThrew(error), { cause: error });
  }
  return scopedBy(scope);
}

/**
 * An array that comes with a request may stand where one id was meant, so only the application's own function
 * may give several ids. Whether a value is an id, the filter decides.
 *
 * @throws {BloomIdError} in the function: for an array that no function gave, and for more ids than `maxIds`.
 */
export function idsReader(
  { id, scope }: Pick<BloomRegistersOptions, 'id' | 'scope'>,
  maxIds: number,
): IdsReader {
  const readId = readerOf('id', id);
  const readScope = scope === undefined ? undefined : readerOf('scope', scope);
  return (self, args, made) => {
    const found = readId(self, args);
    if (Array.isArray(found)) {
      if (typeof id !== 'function') throw new BloomIdError(arrayForOneId(id, found.length));
      if (found.length > maxIds) throw new BloomIdError(tooManyIds(maxIds, found.length));
    }
    const ids: unknown[] = [found, made ?? []].flat();
    return (readScope ? ids.map(scopeOf(readScope, self, args)) : ids) as BloomId[];
  };
}

/** What Express and Fastify have in common. */
export interface HttpRequest {
  readonly params: Record<string, unknown>;
}

/** Requests, on their way to the route. */
export function requestEntry({ param, id, scope }: BloomGuardedOptions): EntryPoint {
  return {
    readId: inScope(
      requestReader(param ?? id ?? 'id'),
      scope === undefined ? undefined : requestReader(scope),
    ),
    readBy: `its option ${param === undefined ? 'id' : 'param'}`,
    context: () => 'http',
    isNullable: () => false,
    absent: undefined,
  };
}

function requestReader(param: NonNullable<BloomGuardedOptions['param']>): IdReader {
  if (typeof param === 'function') return (_, [request]) => syncAnswer('the option param', param(request));
  return (_, args) => {
    const { params } = args[0] as HttpRequest;
    if (param in params) return params[param];
    // A route that has no such parameter is a mistake of its author: it must not make all rows absent.
    throw new ReaderMistake(noRouteParameter(param));
  };
}

/**
 * What a function of the application returned, where a promise would not be awaited.
 *
 * @param option for people: the name of the function.
 * @throws {ReaderMistake} for a promise.
 */
export function syncAnswer<Answer>(option: string, answer: Answer): Answer {
  if (!(answer instanceof Promise)) return answer;
  // Its rejection must not end the process.
  answer.catch(() => {});
  throw new ReaderMistake(promiseFromOption(option));
}

/** Whether a function of the application says that the client's value is not an id, in place of failing. */
export function isInvalidId(error: unknown): boolean {
  if (error instanceof BloomIdError) return true;
  return error instanceof HttpException && error.getStatus() >= 400 && error.getStatus() < 500;
}
