import { BloomError, type BloomEventListener } from '../common/index.js';
import type { GuardableFilter } from '../service/index.js';
import type { GuardAnswers } from './guard-answers.js';
import { type GuardDecision, pass } from './guard-decision.js';
import type { GuardedCall } from './guarded-call.js';
import { idFunctionThrew, thrown } from './guard.messages.js';
import { isInvalidId } from './id-reader.js';
import { ReaderMistake } from './reader-mistake.js';

/** Decides on calls that have no id: the value cannot be one, or a function of the application failed over it. */
export class UnreadIds {
  /** Filters and methods whose functions have failed. */
  private readonly advised = new Set<string>();

  constructor(
    private readonly emit: BloomEventListener,
    private readonly answers: GuardAnswers,
  ) {}

  /**
   * @param error what reading the id has thrown.
   * @param thrownBy for people: which function of the application was called.
   */
  decide(
    call: GuardedCall,
    filter: GuardableFilter,
    { error, thrownBy }: { readonly error: unknown; readonly thrownBy: string },
  ): GuardDecision | Promise<GuardDecision> {
    if (isInvalidId(error)) return this.onInvalid(call, filter, error);
    // As while it is not known yet how ids are spelled.
    const isOwn = error instanceof BloomError || error instanceof ReaderMistake;
    if (isOwn) return this.onFailure(call, filter, error);
    const isMeant = this.answers.onThrow(call) === 'invalid';
    if (!isMeant) this.advise(call, thrownBy, error);
    return isMeant ? this.onInvalid(call, filter, error) : this.onFailure(call, filter, error);
  }

  /** A mistake of the application, as far as anybody can see: it must not make rows absent. */
  private onFailure(
    call: GuardedCall,
    filter: GuardableFilter,
    error: unknown,
  ): GuardDecision | Promise<GuardDecision> {
    const { name, guarding, lookups } = filter;
    this.emit({ type: 'invalid-id', filter: name, error, method: call.guard.method });
    guarding.noteUnread(false, call.guard);
    lookups.unknown('invalid-id', 1);
    return guarding.mode === 'on' ? this.answers.unknown(call, filter) : pass();
  }

  /** The value cannot be the id of any row: neither `add` nor the source takes it. */
  private onInvalid(
    call: GuardedCall,
    filter: GuardableFilter,
    error: unknown,
  ): GuardDecision | Promise<GuardDecision> {
    const { answers } = this;
    const { name, guarding, lookups } = filter;
    guarding.noteUnread(true, call.guard);
    lookups.unknown('invalid-id', 1);
    const onInvalid = guarding.mode === 'on' ? answers.onInvalid(call) : 'pass';
    const answered = onInvalid !== 'pass' && { answered: true as const };
    this.emit({ type: 'invalid-id', filter: name, error, method: call.guard.method, ...answered });
    switch (onInvalid) {
      case 'pass':
        return pass();
      case 'unknown':
        return answers.unknown(call, filter);
      case 'absent':
        return answers.absent(call, filter);
      default:
        guarding.noteSaved(call.guard);
        return answers.from(onInvalid, call);
    }
  }

  private advise({ guard }: GuardedCall, thrownBy: string, error: unknown): void {
    const { method, filter } = guard;
    const key = `${filter} ${method}`;
    if (this.advised.has(key)) return;
    this.advised.add(key);
    const thrower = { method, filter, thrownBy };
    const name = error instanceof Error ? error.name : 'an error';
    this.emit({
      type: 'advice',
      filter,
      text: idFunctionThrew({ ...thrower, what: thrown(error) }),
      withoutId: idFunctionThrew({ ...thrower, what: name }),
    });
  }
}
