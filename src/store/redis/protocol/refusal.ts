import type { RedisConnection } from '../client/redis-connection.js';
import type { Script } from '../client/script.js';
import { unexpectedReplyError } from '../client/unexpected-reply.js';

/** Why a step of a rebuild was refused. */
export type Refusal = 'OWNER' | 'LEASE' | 'NOMETA' | 'FORMAT' | 'SERVER' | 'STALE' | 'LENGTH';

const REFUSALS = new Set<string>([
  'OWNER',
  'LEASE',
  'NOMETA',
  'FORMAT',
  'SERVER',
  'STALE',
  'LENGTH',
] satisfies Refusal[]);

/**
 * Runs a script of a rebuild.
 *
 * @throws {BloomUnavailableError} when it could not be run, or replied something else.
 */
export async function runStep(
  connection: RedisConnection,
  script: Script,
  keys: readonly string[],
  args: readonly (string | number | Buffer)[],
): Promise<Refusal | 'OK'> {
  const reply = String(await connection.run(script, keys, args));
  return reply === 'OK' ? reply : assertRefusal(script, reply);
}

/** @throws {BloomUnavailableError} when the reply of a script is something else. */
export function assertRefusal(script: Script, reply: string): Refusal {
  if (REFUSALS.has(reply)) return reply as Refusal;
  throw unexpectedReplyError(script.name, reply);
}
