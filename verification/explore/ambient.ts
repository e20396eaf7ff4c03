import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import type { Random } from '../../test/support/random.js';

/** Time and chance as one schedule has them: nothing in it runs by the clock of the machine. */
export interface Ambient {
  /** Milliseconds. */
  readonly now: number;
  readonly random: Random;
  /** A timer that repeats, to be fired by the schedule. */
  onInterval(callback: () => void, ms: number): VirtualInterval;
  onTimeout(callback: () => void, ms: number): void;
}

export interface VirtualInterval {
  readonly callback: () => void;
  readonly ms: number;
  cleared: boolean;
  unref(): VirtualInterval;
}

let current: Ambient | undefined;
/** Calls that wait for their turn of the event loop. */
let immediates = 0;
const nextTurn = globalThis.setImmediate;

/** Does some work of a schedule, and all that follows from it until everything waits for the schedule again. */
export async function within(ambient: Ambient, work: () => void): Promise<void> {
  current = ambient;
  try {
    work();
    do await new Promise((resolve) => nextTurn(resolve));
    while (immediates > 0);
  } finally {
    current = undefined;
  }
}

/** Puts timers, the clock and randomness of the library under the schedule that is being worked on. For good. */
export function virtualise(): void {
  const real = {
    setInterval: globalThis.setInterval,
    clearInterval: globalThis.clearInterval,
    setTimeout: globalThis.setTimeout,
    now: performance.now.bind(performance),
    randomBytes: crypto.randomBytes.bind(crypto),
  };
  const replaced = {
    setInterval: (callback: () => void, ms: number) =>
      current ? current.onInterval(callback, ms) : real.setInterval(callback, ms),
    clearInterval: (timer: VirtualInterval | NodeJS.Timeout | undefined) => {
      if (timer && 'cleared' in timer) timer.cleared = true;
      else real.clearInterval(timer);
    },
    setTimeout: (callback: () => void, ms: number) =>
      current ? (current.onTimeout(callback, ms), {}) : real.setTimeout(callback, ms),
    setImmediate: (callback: () => void) => {
      immediates++;
      return nextTurn(() => {
        immediates--;
        callback();
      });
    },
  };
  Object.assign(globalThis, replaced);
  AbortSignal.any = follow;
  performance.now = () => current?.now ?? real.now();
  crypto.randomBytes = ((size: number) =>
    current ? Buffer.from(current.random.bytes(size)) : real.randomBytes(size)) as typeof crypto.randomBytes;
  syncBuiltinESMExports();
}

/**
 * In the place of `AbortSignal.any`, whose signals Node keeps for as long as somebody listens: the run of a process that is killed listens
 * for ever, and holds all that its schedule has made.
 */
function follow(signals: Iterable<AbortSignal>): AbortSignal {
  const controller = new AbortController();
  for (const signal of signals) {
    if (signal.aborted) controller.abort(signal.reason);
    else signal.addEventListener('abort', () => controller.abort(signal.reason), { once: true });
  }
  return controller.signal;
}
