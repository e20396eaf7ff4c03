import { type Observable, tap } from 'rxjs';
import type { CallLessons } from './call-lessons.js';
import type { GuardedCall, ObservedCall } from './guarded-call.js';

/** A call that was let through, of which something can be learned. */
export interface PassedCall {
  readonly call: GuardedCall;
  readonly observed: ObservedCall;
}

/** The same stream. Its first value, or its error, shows whether the route found something. */
export function learningFrom(
  stream: Observable<unknown>,
  passed: readonly PassedCall[],
  lessons: CallLessons,
): Observable<unknown> {
  if (passed.length === 0) return stream;
  let isSettled = false;
  const settle = (learn: (one: PassedCall) => void) => {
    if (!isSettled) for (const one of passed) learn(one);
    isSettled = true;
  };
  return stream.pipe(
    tap({
      next: (value) => settle(({ call, observed }) => lessons.settleResult(call, observed, value)),
      error: (error) => settle(({ call, observed }) => lessons.settleError(call, observed, error)),
    }),
  );
}
