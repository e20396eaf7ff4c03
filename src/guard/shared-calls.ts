interface RunningCall {
  readonly startedAt: number;
  readonly result: Promise<unknown>;
}

export interface SharedCall {
  readonly result: Promise<unknown>;
  /** Whether it is the call of another caller, which may have begun before this one came. */
  readonly isJoined: boolean;
}

/** Running calls of one method on one object that are kept to be joined; further ones run alone. */
const MAX_RUNNING = 10_000;

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
