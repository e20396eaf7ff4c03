interface RunningCall {
  readonly self: unknown;
  readonly args: readonly unknown[];
  readonly result: Promise<unknown>;
}

/** Lets equal calls that run at the same time share one: same object, same method, same arguments. */
export class SharedCalls {
  private readonly running = new Map<string, RunningCall[]>();

  run(call: {
    method: string;
    self: unknown;
    args: readonly unknown[];
    proceed: () => Promise<unknown>;
  }): Promise<unknown> {
    const { method, self, args, proceed } = call;
    const key = `${method} ${typeof args[0] === 'object' ? '' : String(args[0])}`;
    const calls = this.running.get(key) ?? [];
    const same = calls.find((other) => other.self === self && areEqual(other.args, args));
    if (same) return same.result;
    const mine: RunningCall = { self, args, result: proceed().finally(() => this.end(key, mine)) };
    this.running.set(key, [...calls, mine]);
    return mine.result;
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
