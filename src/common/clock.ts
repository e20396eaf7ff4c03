import { setTimeout as delay } from 'node:timers/promises';

/** Time as the library sees it; passed in, so that a test can hold it. */
export interface Clock {
  /** Milliseconds that only ever grow. */
  now(): number;
  /** Rejects with the signal's reason when the signal aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  sleep: async (ms, signal) => {
    try {
      await delay(ms, undefined, { signal });
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  },
};
