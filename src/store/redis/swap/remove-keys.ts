import { pause } from '../../../common/index.js';
import type { RedisConnection } from '../client/redis-connection.js';
import { defineScripts } from '../client/script.js';
import { coreLua } from '../lua/core.generated.js';

/** Keys of one step: no other client waits for the removal of more. */
const KEYS_AT_ONCE = 16;
/** What could not be removed is tried again for so long; after that it expires. */
const GIVE_UP_MS = 120_000;
/** Pauses between these attempts double from the first to the last. */
const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 1000;

const { discard: DISCARD } = defineScripts(coreLua, ['discard']);

/**
 * Removes keys that nobody writes to any more, a few at a time. When one step fails, the rest is sent at once
 * and not waited for any longer than that: a server that stands still removes them when it goes on. Attempts
 * then go on after the rejection, for those keys that have a life: a swap of which nobody has heard may have
 * made the others live.
 */
export function removeKeys(connection: RedisConnection, keys: readonly string[]): Promise<void> {
  return remove(connection, keys, (key) => connection.unlink(key));
}

/**
 * The same for keys of a staging that ends without a swap of which this process has heard. One may have taken
 * place all the same, so from the first attempt on only keys that have a life are removed.
 */
export function removeStagingKeys(connection: RedisConnection, keys: readonly string[]): Promise<void> {
  return remove(connection, keys, (key) => connection.run(DISCARD, [key], []));
}

async function remove(
  connection: RedisConnection,
  keys: readonly string[],
  removeOne: (key: string) => Promise<unknown>,
): Promise<void> {
  let failure: PromiseRejectedResult | undefined;
  const left: string[] = [];
  for (let at = 0; at < keys.length;) {
    const some = keys.slice(at, failure ? keys.length : at + KEYS_AT_ONCE);
    const replies = await Promise.allSettled(some.map(removeOne));
    failure ??= replies.find((reply) => reply.status === 'rejected');
    left.push(...some.filter((_, i) => replies[i]!.status === 'rejected'));
    at += some.length;
  }
  if (!failure) return;
  void discard(connection, left);
  throw failure.reason;
}

/** The failure that led here has been reported. */
async function discard(connection: RedisConnection, keys: readonly string[]): Promise<void> {
  const until = performance.now() + GIVE_UP_MS;
  let pauseMs = FIRST_PAUSE_MS;
  for (let at = 0; at < keys.length;) {
    await pause(pauseMs);
    if (connection.isClosed || performance.now() > until) return;
    try {
      await connection.run(DISCARD, keys.slice(at, at + KEYS_AT_ONCE), []);
      at += KEYS_AT_ONCE;
      pauseMs = 0;
    } catch {
      pauseMs = Math.min(2 * pauseMs || FIRST_PAUSE_MS, LAST_PAUSE_MS);
    }
  }
}
