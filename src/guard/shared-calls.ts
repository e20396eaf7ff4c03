interface RunningCall {
  readonly self: unknown;
  readonly args: readonly unknown[];
  readonly startedAt: number;
  readonly result: Promise<unknown>;
}

export interface SharedCall {
  readonly result: Promise<unknown>;
  /** Whether it is the call of another caller, which may have begun before this one came. */
  readonly isJoined: boolean;
}

/** Lets equal calls that run at the same time share one: same object, same method, same arguments. */
export class SharedCalls {
  private readonly running = new Map<string, RunningCall[]>();

  run(call: {
    method: string;
    self: unknown;
    args: readonly unknown[];
    /** Whether a call that began then, by `performance.now()`, may have missed what this one must find. */
    isTooOld: (startedAt: number) => boolean;
    proceed: () => Promise<unknown>;
  }): SharedCall {
    const { method, self, args, isTooOld, proceed } = call;
    const key = `${method} ${typeof args[0] === 'object' ? '' : String(args[0])}`;
    const calls = this.running.get(key) ?? [];
    const same = calls.findLast((other) => other.self === self && areEqual(other.args, args));
    if (same && !isTooOld(same.startedAt)) return { result: same.result, isJoined: true };
    const startedAt = performance.now();
    const mine: RunningCall = { self, args, startedAt, result: proceed().finally(() => this.end(key, mine)) };
    this.running.set(key, [...calls, mine]);
    return { result: mine.result, isJoined: false };
  }

  private end(key: string, call: RunningCall): void {
    const left = (this.running.get(key) ?? []).filter((other) => other !== call);
    if (left.length > 0) this.running.set(key, left);
    else this.running.delete(key);
  }
}

function areEqual(left: readonly unknown[], right: readonly unknown[]): boolean {
  return left.length === right.length && left.every((value, i) => Object.is(value, right[i]));
}
