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

/** Kept from the start: fake timers of a test may take its place later. */
const { hrtime } = process;

/** The clock that `performance.now` reads, in less time: a leased copy reads it for each absent id. */
function sinceBoot(): number {
  const read = hrtime();
  return read[0] * 1e3 + read[1] / 1e6;
}

/** What `performance.now` gives at the zero of `sinceBoot`; undefined where that stands still, as under the fake timers of a test. */
function zeroOfBoot(): number | undefined {
  const first = sinceBoot();
  let zero = 0;
  let least = Infinity;
  // The process may be interrupted between two reads, not between all.
  for (let i = 0; i < 20; i++) {
    const before = performance.now();
    const boot = sinceBoot();
    const took = performance.now() - before;
    if (took >= least) continue;
    least = took;
    zero = before - boot;
  }
  return sinceBoot() > first ? zero : undefined;
}

const ZERO = zeroOfBoot();

export const systemClock: Clock = {
  now: ZERO === undefined ? () => performance.now() : () => sinceBoot() + ZERO,
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

/** Lives differ by this share up and down, so that what began together does not end together. */
const JITTER = 0.2;

/** About `ms`. */
export function jittered(ms: number): number {
  return ms * (1 - JITTER + 2 * JITTER * Math.random());
}
