import { HttpException, HttpStatus } from '@nestjs/common';
import { defer, type Observable, tap } from 'rxjs';
import type { BloomId } from '../filter/index.js';
import type { BloomService, UnjudgedCall } from '../service/index.js';
import { wrongIsFound } from './guard.messages.js';
import type { GuardAnswers } from './guard-answers.js';
import { beginLoad, type GuardedCall, syncAnswer } from './guarded-call.js';

/**
 * What the end of a call shows about its id. `denied`: the method returned null or threw NotFound. `nothing`:
 * it returned something else that stands for nothing. `unclear`: it failed, or returned a stream, whose
 * values are not known yet.
 */
type CallOutcome = 'found' | 'denied' | 'nothing' | 'unclear';

/** By these TypeORM, MikroORM, Kysely and Mongoose say that there is no such row. */
const NOT_FOUND = ['EntityNotFoundError', 'NotFoundError', 'NoResultError', 'DocumentNotFoundError'];
/** The code by which Prisma does. */
const PRISMA_NOT_FOUND = 'P2025';

/** Learns from how the calls end that were let through. */
export class CallLessons {
  constructor(
    private readonly service: BloomService,
    private readonly answers: GuardAnswers,
  ) {}

  /**
   * Learns from what the method returned.
   *
   * @internal
   */
  settleResult(call: GuardedCall, result: unknown): void {
    const { guard, verdict } = call;
    call.load?.end(call.startedAt);
    if (call.unjudged) this.settleUnjudged(call, call.unjudged, result);
    if (verdict === undefined) return;
    const isPlain = result !== null && result !== undefined && result !== false && !Array.isArray(result);
    // Most calls: something was found for an id that the filter let through, and there is nothing to learn.
    if (isPlain && !guard.options.isFound && verdict !== 'absent') {
      if (call.isRemote) call.filter?.guarding.seen?.add(call.key!);
      return;
    }
    if (Array.isArray(result)) this.advise(call, undefined);
    const outcome = this.callback(guard, 'isFound', () => outcomeOfResult(result, call));
    if (outcome) this.settle(call, outcome, result);
  }

  /** Learns from what the method threw. */
  settleError(call: GuardedCall, error: unknown): void {
    call.load?.end(call.startedAt);
    const thrown = notFoundName(error);
    // Any other error says nothing of the row.
    if (call.unjudged)
      call.filter?.guarding.budget?.leave(call.unjudged, thrown === undefined ? undefined : false);
    if (call.verdict === undefined) return;
    if (thrown !== undefined) this.advise(call, thrown);
    this.settle(call, isNotFound(error) ? 'denied' : 'unclear', undefined);
  }

  /** The same stream. Its first value, or its error, shows whether the route found something. */
  fromStream(stream: Observable<unknown>, calls: readonly GuardedCall[]): Observable<unknown> {
    if (calls.length === 0) return stream;
    return defer(() => {
      let isSettled = false;
      const settle = (learn: (call: GuardedCall) => void) => {
        if (!isSettled) for (const call of calls) learn(call);
        isSettled = true;
      };
      for (const call of calls) beginLoad(call);
      return stream.pipe(
        tap({
          next: (value) => settle((call) => this.settleResult(call, value)),
          error: (error) => settle((call) => this.settleError(call, error)),
          // Nobody waits any more, or there is no value.
          finalize: () => settle((call) => this.settleError(call, undefined)),
        }),
      );
    });
  }

  /** The methods of these calls will not run. */
  giveUp(calls: readonly GuardedCall[]): void {
    for (const { filter, unjudged } of calls) if (unjudged) filter?.guarding.budget?.giveUp(unjudged);
  }

  /** What a function of the application returns; undefined, and an event, when it throws. */
  callback<Result>(
    { filter, method }: { readonly filter: string; readonly method: string },
    operation: 'id' | 'isFound' | 'coalesce.key',
    run: () => Result,
  ): Result | undefined {
    try {
      return run();
    } catch (error) {
      this.service.emit({ type: 'guard-error', filter, method, operation, error });
      return undefined;
    }
  }

  private settleUnjudged(call: GuardedCall, unjudged: UnjudgedCall, result: unknown): void {
    const { guard, filter, key } = call;
    const outcome = this.callback(guard, 'isFound', () => outcomeOfResult(result, call)) ?? 'unclear';
    const isFound = outcome === 'found';
    if (isFound && key !== undefined) filter?.guarding.seen?.add(key);
    filter?.guarding.budget?.leave(unjudged, outcome === 'unclear' ? undefined : isFound);
  }

  private settle(call: GuardedCall, outcome: CallOutcome, result: unknown): void {
    const { guard, filter, id, key, verdict, denialKey, denial } = call;
    if (!filter) return;
    const { guarding } = filter;
    const { method } = guard;
    const isNothing = outcome === 'denied' || outcome === 'nothing';
    if (isNothing) guarding.methodsThatReportMissing.add(method);
    if (verdict === 'absent') {
      const returned = typeOfResult(result);
      if (outcome === 'found')
        void filter.reportFalseNegative({ id: id as BloomId, key: key!, method, returned });
      return;
    }
    if (outcome === 'found' && call.isRemote) guarding.seen?.add(key!);
    if (!isNothing) return;
    guarding.recordFoundNothing(guard);
    if (call.isJoined || outcome !== 'denied' || !denialKey) return;
    if (denial) denial.note();
    else guarding.negativeCache?.remember(denialKey.text, denialKey.scope, call.readAt);
  }

  private advise(call: GuardedCall, thrown: string | undefined): void {
    const text = this.answers.adviceOn(call, thrown);
    if (text !== undefined) this.service.emit({ type: 'advice', filter: call.guard.filter, text });
  }
}

/** @throws what `isFound` throws, and a TypeError when it returns no boolean. */
function outcomeOfResult(result: unknown, { guard, self, args }: GuardedCall): CallOutcome {
  if (result === null) return 'denied';
  if (result === undefined) return 'nothing';
  const { isFound } = guard.options;
  if (isFound) return isTrue(isFound.apply(self, [result, ...args])) ? 'found' : 'nothing';
  if (result === false) return 'nothing';
  if (Array.isArray(result)) return result.length > 0 ? 'found' : 'nothing';
  return isStream(result) ? 'unclear' : 'found';
}

function isTrue(answer: unknown): boolean {
  if (typeof answer === 'boolean') return answer;
  throw new TypeError(wrongIsFound(typeof syncAnswer('isFound', answer)));
}

function isStream(result: unknown): boolean {
  if (typeof result !== 'object' || result === null) return false;
  const { subscribe, pipe, getStream } = result as Record<string, unknown>;
  return (
    [subscribe, pipe, getStream].some((method) => typeof method === 'function') ||
    Symbol.asyncIterator in result
  );
}

function isNotFound(error: unknown): boolean {
  return error instanceof HttpException && error.getStatus() === HttpStatus.NOT_FOUND;
}

/** The name of an error that probably says that there is no such row; undefined for any other. */
function notFoundName(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (isNotFound(error)) return 'NotFoundException';
  const name = error.constructor.name;
  const isKnown = NOT_FOUND.includes(name) || (error as { code?: unknown }).code === PRISMA_NOT_FOUND;
  return isKnown ? name : undefined;
}

/** The type of a result, for messages: its contents may be private. */
function typeOfResult(result: unknown): string {
  if (typeof result !== 'object' || result === null) return typeof result;
  const name: unknown = Object.getPrototypeOf(result)?.constructor?.name;
  return typeof name !== 'string' || name === '' || name === 'Object' ? 'object' : `object of class ${name}`;
}
