import type { BloomVerdict, DenialAnswer } from '../store/index.js';
import type { AskedCall, ObservedCall } from './guarded-call.js';

/** A value, or the error with which the call ends. The error is not thrown here: a throw takes several times as long as the check. */
export interface GuardAnswer {
  readonly value: unknown;
  readonly error: Error | undefined;
}

/** What a guard decided on a call. All decisions have the same members: the engine reads them faster. */
export interface GuardDecision {
  /** The call is answered with this, in place of the method. */
  readonly answer: GuardAnswer | undefined;
  /** The call is let through, and what becomes of it is to be reported by `settleResult` or `settleError`. */
  readonly observed: ObservedCall | undefined;
  /** Of a call that is let through: as that of `AskedCall`. */
  readonly note: string | undefined;
}

const PASS: GuardDecision = { answer: undefined, observed: undefined, note: undefined };

/** Lets through a call for an id that may exist. All that is learned of the call is whether the id exists. */
export const COUNT: GuardDecision = {
  answer: undefined,
  observed: { asked: undefined, verdict: 'maybe', readAt: 0, denial: undefined },
  note: undefined,
};

/** Lets a call through without learning from it. */
export function pass(note?: string): GuardDecision {
  return note === undefined ? PASS : { answer: undefined, observed: undefined, note };
}

export function answerWith(value: unknown): GuardDecision {
  return { answer: { value, error: undefined }, observed: undefined, note: undefined };
}

export function failWith(error: Error): GuardDecision {
  return { answer: { value: undefined, error }, observed: undefined, note: undefined };
}

/** @throws the error of the answer. */
export function answeredValue({ value, error }: GuardAnswer): unknown {
  if (error !== undefined) throw error;
  return value;
}

/** The row of an id beyond the mark may become visible at any time: no other call is answered by what this one finds. */
export function alone(asked: AskedCall): AskedCall {
  return { ...asked, note: undefined, denialKey: undefined };
}

/** Lets a call through, to learn from how it ends. */
export function observe(asked: AskedCall, verdict: BloomVerdict, denial?: DenialAnswer): GuardDecision {
  const readAt = asked.denialKey && asked.filter.guarding.negativeCache ? performance.now() : 0;
  return { answer: undefined, observed: { asked, verdict, readAt, denial }, note: asked.note };
}
