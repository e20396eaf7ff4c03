import { NotFoundException, ServiceUnavailableException } from '@nestjs/common';
import { answerWith, type GuardDecision, pass } from './guard-decision.js';
import type { GuardedCall } from './guarded-call.js';
import type { BloomCallback, BloomGuardDefaults } from './guard.options.js';

const NULL = answerWith(null);

/** What is answered in place of the method: as the decorator says, else as the application says. */
export class GuardAnswers {
  constructor(private readonly defaults: BloomGuardDefaults = {}) {}

  absent(call: GuardedCall): GuardDecision | Promise<GuardDecision> {
    const onAbsent = call.guard.options.onAbsent ?? this.defaults.onAbsent;
    if (onAbsent) return this.from(onAbsent, call);
    if (call.entry.isRoute()) throw new NotFoundException();
    return NULL;
  }

  /** @param note of an id that is let through: as that of `GuardDecision`. */
  unknown(call: GuardedCall, note?: string): GuardDecision | Promise<GuardDecision> {
    const onUnknown = this.onUnknown(call);
    if (onUnknown === 'pass') return pass(note);
    if (onUnknown === 'unavailable') throw new ServiceUnavailableException();
    return this.from(onUnknown, call);
  }

  /** What is done with a value that cannot be the id of any row: the call is let through, or answered. */
  onInvalid(call: GuardedCall): 'pass' | 'absent' | 'unknown' | BloomCallback<unknown> {
    const { guard, entry } = call;
    const chosen = guard.options.onInvalid ?? this.defaults.onInvalid;
    if (chosen !== undefined) return chosen;
    if (entry.isRoute()) return 'absent';
    return this.onUnknown(call) === 'pass' ? 'pass' : 'unknown';
  }

  async from(answer: BloomCallback<unknown>, { self, args }: GuardedCall): Promise<GuardDecision> {
    return answerWith(await answer.apply(self, [...args]));
  }

  private onUnknown({ guard }: GuardedCall): NonNullable<BloomGuardDefaults['onUnknown']> {
    return guard.options.onUnknown ?? this.defaults.onUnknown ?? 'pass';
  }
}
