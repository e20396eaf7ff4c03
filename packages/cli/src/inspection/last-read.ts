import { setTimeout as pause } from 'node:timers/promises';
import { type RedisConnection, Script } from 'nestjs-bloom/internal';

/** Each process reads the metadata of a filter at least every 13 seconds, unless it has no heartbeat. */
const QUIET_S = 15;
/** Redis counts in seconds, and may be late by one. */
const ROUNDING_S = 2;
const LOOK_EVERY_MS = 1000;

/** Looking this up counts as no access. A server that evicts by frequency does not know it. */
const IDLE = new Script(
  'idle',
  `local idle = redis.pcall('OBJECT', 'IDLETIME', KEYS[1])
return type(idle) == 'number' and idle or -1`,
);

/**
 * Whether a process reads one of these keys. A key without a read for 15 seconds settles it; otherwise this
 * waits that long at most, since a command like `list` may have read them.
 *
 * @param onWait is called before it waits
 * @returns undefined when the server does not tell.
 */
export async function isRead(
  connection: RedisConnection,
  keys: readonly string[],
  onWait: () => void,
): Promise<boolean | undefined> {
  const beganAt = performance.now();
  for (let isFirst = true; ; isFirst = false) {
    const waitedS = (performance.now() - beganAt) / 1000;
    const idle = await Promise.all(keys.map(async (key) => Number(await connection.run(IDLE, [key], []))));
    const least = Math.min(...idle.filter((one) => one >= 0));
    if (keys.length > 0 && least === Infinity) return undefined;
    if (least >= QUIET_S) return false;
    if (least + ROUNDING_S < waitedS) return true;
    if (isFirst) onWait();
    await pause(LOOK_EVERY_MS);
  }
}
