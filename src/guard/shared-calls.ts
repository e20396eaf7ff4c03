import { wrongCoalesceKey } from './guard.messages.js';
import type { BloomCoalesceOptions } from './guard-options.js';
import { syncAnswer } from './sync-answer.js';

interface RunningCall {
  readonly startedAt: number;
  readonly result: Promise<unknown>;
}

export interface SharedCall {
  readonly result: Promise<unknown>;
  /** Whether it is the run of another caller, which may have begun before this call. */
  readonly isJoined: boolean;
}

/** Characters of a key by which calls are shared; calls with longer ones run alone. */
const MAX_KEY = 1024;
/** Running calls of one method on one object that are kept to be joined; further ones run alone. */
const MAX_RUNNING = 10_000;

/**
 * What a call may be shared by beside its id; undefined for a call that runs alone.
 *
 * @throws what the function of the application throws, and a TypeError when it returns no text.
 */
export function sharedKey(
  { key }: BloomCoalesceOptions,
  { self, args }: { readonly self: unknown; readonly args: readonly unknown[] },
): string | undefined {
  const answer: unknown = syncAnswer('coalesce.key', key.apply(self, [...args]));
  if (answer !== undefined && typeof answer !== 'string')
    throw new TypeError(wrongCoalesceKey(typeof answer));
  return answer === undefined || answer.length > MAX_KEY ? undefined : answer;
}

/** Lets calls of one method on one object share one run while it lasts, where their keys are equal. */
export class SharedCalls {
  private readonly running = new WeakMap<object, Map<object, Map<string, RunningCall>>>();

  run(call: {
    readonly self: object;
    /** The declaration on the method: its name may be that of another class as well. */
    readonly guard: object;
    readonly key: string;
    /** Whether a call that began then, by `performance.now()`, may have missed what this one must find. */
    readonly isTooOld: (startedAt: number) => boolean;
    readonly proceed: () => Promise<unknown>;
  }): SharedCall {
    const { key, isTooOld, proceed } = call;
    const calls = this.callsOf(call.self, call.guard);
    const same = calls.get(key);
    if (same && !isTooOld(same.startedAt)) return { result: same.result, isJoined: true };
    if (!same && calls.size >= MAX_RUNNING) return { result: proceed(), isJoined: false };
    const startedAt = performance.now();
    const mine: RunningCall = {
      startedAt,
      result: proceed().finally(() => {
        if (calls.get(key) === mine) calls.delete(key);
      }),
    };
    calls.set(key, mine);
    return { result: mine.result, isJoined: false };
  }

  private callsOf(self: object, guard: object): Map<string, RunningCall> {
    let guards = this.running.get(self);
    if (!guards) this.running.set(self, (guards = new Map()));
    let calls = guards.get(guard);
    if (!calls) guards.set(guard, (calls = new Map()));
    return calls;
  }
}
