import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import type { Random } from '../../test/support/random.js';

/** Time and chance as one schedule has them: nothing in it runs by the clock of the machine. */
export interface Ambient {
  /** What the process that works now has for `performance.now()`. */
  readonly processNow: number;
  /** What it has for `Date.now()`; undefined: as on this machine. */
  readonly wallNow: number | undefined;
  readonly random: Random;
  /** For `Math.random()`; undefined: as on this machine. */
  readonly chance: Random | undefined;
  /** A timer that repeats, to be fired by the schedule. */
  onInterval(callback: () => void, ms: number): VirtualInterval;
  onTimeout(callback: () => void, ms: number): VirtualTimeout;
}

export interface VirtualInterval {
  readonly callback: () => void;
  readonly ms: number;
  cleared: boolean;
  ref(): VirtualInterval;
  unref(): VirtualInterval;
}

export interface VirtualTimeout {
  clear(): void;
  ref(): VirtualTimeout;
  unref(): VirtualTimeout;
}

let current: Ambient | undefined;
/** Calls that wait for their turn of the event loop. */
let immediates = 0;
const nextTurn = globalThis.setImmediate;

/**
 * Does some work of a schedule, and all that follows from it until everything waits for the schedule again.
 */
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

/** Looks at a schedule without anything following from it. */
export function during(ambient: Ambient, look: () => void): void {
  current = ambient;
  try {
    look();
  } finally {
    current = undefined;
  }
}

/**
 * Puts timers, the clock and randomness of the library under the schedule that is being worked on. For good.
 */
export function virtualise(): void {
  const real = {
    setInterval: globalThis.setInterval,
    clearInterval: globalThis.clearInterval,
    setTimeout: globalThis.setTimeout,
    clearTimeout: globalThis.clearTimeout,
    dateNow: Date.now.bind(Date),
    chance: Math.random.bind(Math),
    now: performance.now.bind(performance),
    randomBytes: crypto.randomBytes.bind(crypto),
    randomUUID: crypto.randomUUID.bind(crypto),
  };
  const replaced = {
    setInterval: (callback: () => void, ms: number) =>
      current ? current.onInterval(callback, ms) : real.setInterval(callback, ms),
    clearInterval: (timer: VirtualInterval | NodeJS.Timeout | undefined) => {
      if (timer && 'cleared' in timer) timer.cleared = true;
      else real.clearInterval(timer);
    },
    setTimeout: (callback: () => void, ms: number) =>
      current ? current.onTimeout(callback, ms) : real.setTimeout(callback, ms),
    clearTimeout: (timer: VirtualTimeout | NodeJS.Timeout | undefined) => {
      if (timer && 'clear' in timer) timer.clear();
      else real.clearTimeout(timer);
    },
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
  performance.now = () => current?.processNow ?? real.now();
  Date.now = () => current?.wallNow ?? real.dateNow();
  Math.random = () => (current?.chance ? current.chance.uint32() / 2 ** 32 : real.chance());
  crypto.randomBytes = ((size: number) =>
    current ? Buffer.from(current.random.bytes(size)) : real.randomBytes(size)) as typeof crypto.randomBytes;
  crypto.randomUUID = ((options) =>
    current
      ? Buffer.from(current.random.bytes(8)).toString('hex')
      : real.randomUUID(options)) as typeof crypto.randomUUID;
  syncBuiltinESMExports();
}

/**
 * In the place of `AbortSignal.any`, whose signals Node keeps for as long as somebody listens: the run of a
 * process that is killed listens for ever, and holds all that its schedule has made.
 */
function follow(signals: Iterable<AbortSignal>): AbortSignal {
  const controller = new AbortController();
  for (const signal of signals) {
    if (signal.aborted) controller.abort(signal.reason);
    else signal.addEventListener('abort', () => controller.abort(signal.reason), { once: true });
  }
  return controller.signal;
}
