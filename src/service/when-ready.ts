import { BloomUnavailableError, describeError, systemClock } from '../common/index.js';
import type { BloomFilterInfo } from './bloom-filter.js';
import { notReadyInTime } from './service.messages.js';

/** Between two questions; they double. */
const FIRST_PAUSE_MS = 5;
const LAST_PAUSE_MS = 250;

interface Asked {
  readonly name: string;
  info(): Promise<BloomFilterInfo>;
}

/** @throws {BloomUnavailableError} when some of the filters are not ready in time. */
export async function whenReady(filters: readonly Asked[], timeoutMs: number): Promise<void> {
  const until = performance.now() + timeoutMs;
  let waiting = filters;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LAST_PAUSE_MS)) {
    const asked = await Promise.all(
      waiting.map(async (filter) => ({ filter, state: await stateOf(filter) })),
    );
    const unready = asked.filter(({ state }) => state !== 'ready');
    if (unready.length === 0) return;
    const leftMs = until - performance.now();
    if (leftMs <= 0) {
      const named = unready.map(({ filter, state }) => `'${filter.name}' (${state})`);
      throw new BloomUnavailableError(notReadyInTime(timeoutMs, named));
    }
    await systemClock.sleep(Math.min(pauseMs, leftMs));
    waiting = unready.map(({ filter }) => filter);
  }
}

async function stateOf(filter: Asked): Promise<string> {
  try {
    return (await filter.info()).state;
  } catch (error) {
    return describeError(error);
  }
}
