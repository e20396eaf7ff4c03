import { createHash, timingSafeEqual } from 'node:crypto';
import type { BloomDashboardUser } from './dashboard-options.js';
import type { PlatformRequest } from './exchange.js';

/** What a browser is asked for. */
export const CHALLENGE = 'Basic realm="nestjs-bloom", charset="UTF-8"';

/**
 * The user whom the request names, if it also has the password. Takes the same time whatever of it is wrong.
 */
export function basicUserOf({ headers }: PlatformRequest, expected: BloomDashboardUser): string | undefined {
  const [, encoded = ''] = /^Basic +([A-Za-z0-9+/_=-]+) *$/i.exec(headers.authorization ?? '') ?? [];
  const given = Buffer.from(encoded, 'base64');
  const wanted = Buffer.from(`${expected.user}:${expected.password}`);
  return timingSafeEqual(digest(given), digest(wanted)) ? expected.user : undefined;
}

/** Digests have the same length whatever is compared. */
function digest(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}
