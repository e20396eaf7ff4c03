import { isForClient } from './call-context.js';
import { notFoundError, unavailableError } from './context-errors.js';
import { answerWith, failWith, type GuardDecision, pass } from './guard-decision.js';
import type { GuardableFilter } from '../service/index.js';
import type { GuardedCall } from './guarded-call.js';
import { otherAnswer } from './guard.messages.js';
import type { BloomCallback, BloomGuardDefaults } from './guard-options.js';

const NULL = answerWith(null);

/** What is answered in place of the method: as the decorator says, else as the application says. */
export class GuardAnswers {
  private readonly advised = new WeakSet<object>();

  constructor(private readonly defaults: BloomGuardDefaults = {}) {}

  /** Answers a call in place of its method, which is counted as saved. */
  absent(call: GuardedCall, { guarding }: GuardableFilter): GuardDecision | Promise<GuardDecision> {
    guarding.noteSaved(call.guard);
    return this.absentAnswer(call);
  }

  absentAnswer(call: GuardedCall): GuardDecision | Promise<GuardDecision> {
    const onAbsent = call.entry.absent ?? this.onAbsent(call);
    switch (onAbsent) {
      case 'null':
        return NULL;
      case 'empty':
        return answerWith([]);
      case 'not-found':
        return failing(notFoundError(call.entry.context(), call.guard.method));
      default:
        return this.from(onAbsent, call);
    }
  }

  /** @param note of an id that is let through: as that of `GuardDecision`. */
  unknown(
    call: GuardedCall,
    { guarding }: GuardableFilter,
    note?: string,
  ): GuardDecision | Promise<GuardDecision> {
    const onUnknown = this.onUnknown(call);
    if (onUnknown === 'pass') return pass(note);
    guarding.noteSaved(call.guard);
    if (onUnknown === 'unavailable') return failing(unavailableError(call.entry.context()));
    return this.from(onUnknown, call);
  }

  /** What is done with a value that cannot be the id of any row: the call is let through, or answered. */
  onInvalid(call: GuardedCall): 'pass' | 'absent' | 'unknown' | BloomCallback<unknown> {
    const { guard, entry } = call;
    const chosen = guard.options.onInvalid ?? this.defaults.onInvalid;
    if (chosen !== undefined) return chosen;
    if (isForClient(entry.context())) return 'absent';
    return this.onUnknown(call) === 'pass' ? 'pass' : 'unknown';
  }

  /** What an error says that a function of the application has thrown over a value. */
  onThrow({ guard }: GuardedCall): 'unknown' | 'invalid' {
    return guard.options.onThrow ?? this.defaults.onThrow ?? 'unknown';
  }

  /**
   * Once for a guard that answers null by default, on a method that ends otherwise when it finds nothing: types do not tell it from a route.
   *
   * @param thrown the name of the error; undefined for a list.
   */
  adviceOn({ guard, entry }: GuardedCall, thrown: string | undefined): string | undefined {
    const isChosen = (guard.options.onAbsent ?? this.defaults.onAbsent) !== undefined;
    if (isChosen || entry.context() !== 'method' || this.advised.has(guard)) return undefined;
    this.advised.add(guard);
    return otherAnswer(guard.method, guard.filter, thrown);
  }

  async from(answer: BloomCallback<unknown>, { self, args }: GuardedCall): Promise<GuardDecision> {
    return answerWith(await answer.apply(self, [...args]));
  }

  private onAbsent({ guard, entry, args }: GuardedCall): NonNullable<BloomGuardDefaults['onAbsent']> {
    const chosen = guard.options.onAbsent ?? this.defaults.onAbsent;
    if (chosen !== undefined) return chosen;
    const context = entry.context();
    if (context === 'graphql') return entry.isNullable(args) ? 'null' : 'not-found';
    return isForClient(context) ? 'not-found' : 'null';
  }

  private onUnknown({ guard }: GuardedCall): NonNullable<BloomGuardDefaults['onUnknown']> {
    return guard.options.onUnknown ?? this.defaults.onUnknown ?? 'pass';
  }
}

/** At once where no package has to be loaded for the error. */
function failing(error: Error | Promise<Error>): GuardDecision | Promise<GuardDecision> {
  return error instanceof Error ? failWith(error) : error.then(failWith);
}
