import type { RedisConnection } from './redis-connection.js';

/** Keys of one step: no other client waits for the removal of more. */
const KEYS_AT_ONCE = 16;

/**
 * Removes keys, a few at a time. When one step fails, the rest is sent at once and not waited for any longer than that: a server that
 * stands still removes them when it goes on.
 */
export async function removeKeys(connection: RedisConnection, keys: readonly string[]): Promise<void> {
  let failure: PromiseRejectedResult | undefined;
  for (let at = 0; at < keys.length;) {
    const some = keys.slice(at, failure ? keys.length : at + KEYS_AT_ONCE);
    const replies = await Promise.allSettled(some.map((key) => connection.unlink(key)));
    failure ??= replies.find((reply) => reply.status === 'rejected');
    at += some.length;
  }
  if (failure) throw failure.reason;
}
