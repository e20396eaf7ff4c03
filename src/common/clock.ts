// The global of this name is a getter, which takes a fifth of the time that reading the clock does.
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';

/** Time as the library sees it; passed in, so that a test can hold it. */
export interface Clock {
  /** Milliseconds that only ever grow. */
  now(): number;
  /** Milliseconds of the wall clock, which may be set, and which goes on where the machine is suspended. */
  wall(): number;
  /** Rejects with the signal's reason when the signal aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The clock of this process. */
export const systemClock: Clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  sleep: async (ms, signal) => {
    try {
      await delay(ms, undefined, { signal });
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  },
};

/** Does not keep a process that ends. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}

/** Resolves when the work is done, or when that takes too long. */
export async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([work, late]);
  clearTimeout(timer);
}

/** Lives differ by this share up and down, so that what began together does not end together. */
const JITTER = 0.2;

/** About `ms`. */
export function jittered(ms: number): number {
  return ms * (1 - JITTER + 2 * JITTER * Math.random());
}
