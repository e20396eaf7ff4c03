import type { BloomId } from '../filter/index.js';
import type { BloomService } from '../service/index.js';
import {
  type CallOutcome,
  notFoundError,
  outcomeOfError,
  outcomeOfResult,
  typeOfResult,
} from './call-outcome.js';
import type { GuardAnswers } from './guard-answers.js';
import type { GuardedCall, ObservedCall } from './guarded-call.js';

/** Learns from how the calls end that were let through. */
export class CallLessons {
  constructor(
    private readonly service: BloomService,
    private readonly answers: GuardAnswers,
  ) {}

  /**
   * Learns from what the method returned.
   *
   * @param isJoined whether the method was called for another caller: it may have begun before the decision.
   * @internal
   */
  settleResult(call: GuardedCall, observed: ObservedCall, result: unknown, isJoined = false): void {
    const { isFound } = call.guard.options;
    const isPlain = result !== null && result !== undefined && result !== false && !Array.isArray(result);
    // Most calls: something was found for an id that the filter let through, and there is nothing to learn.
    if (isPlain && !isFound && observed.verdict !== 'absent') return;
    if (Array.isArray(result)) this.advise(call, undefined);
    const outcome = this.callback(call.guard, 'isFound', () => outcomeOfResult(result, { ...call, isFound }));
    if (outcome) this.settle(call, observed, { outcome, isJoined, result });
  }

  /**
   * Learns from what the method threw.
   */
  settleError(call: GuardedCall, observed: ObservedCall, error: unknown, isJoined = false): void {
    const outcome = outcomeOfError(error);
    const thrown = notFoundError(error);
    if (thrown !== undefined) this.advise(call, thrown);
    this.settle(call, observed, { outcome, isJoined });
  }

  private settle(
    { guard }: GuardedCall,
    { asked, verdict, readAt, denial }: ObservedCall,
    {
      outcome,
      isJoined,
      result,
    }: { readonly outcome: CallOutcome; readonly isJoined: boolean; readonly result?: unknown },
  ): void {
    const filter = asked ? asked.filter : this.service.find(guard.filter);
    const { method } = guard;
    if (!filter) return;
    const { guarding } = filter;
    if (outcome === 'denied' || outcome === 'nothing') guarding.discerning.add(method);
    if (verdict === 'absent') {
      if (asked && outcome === 'found') {
        const { id, key } = asked;
        void filter.reportWrongAbsent({ id: id as BloomId, key, method, returned: typeOfResult(result) });
      }
      return;
    }
    if (outcome !== 'denied' && outcome !== 'nothing') return;
    guarding.noteFoundNothing(guard);
    const denialKey = asked?.denialKey;
    if (isJoined || outcome !== 'denied' || !denialKey) return;
    if (denial) denial.note();
    else guarding.negativeCache?.remember(denialKey.text, denialKey.scope, readAt);
  }

  private advise(call: GuardedCall, thrown: string | undefined): void {
    const text = this.answers.adviceOn(call, thrown);
    if (text !== undefined) this.service.emit({ type: 'advice', filter: call.guard.filter, text });
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
}
