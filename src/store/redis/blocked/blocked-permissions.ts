import { metadataPermissions, type Permission, segmentPermissions } from '../protocol/permissions.js';
import type { RedisKeys } from '../protocol/redis-keys.js';

/** What the scripts of a filter of layout `blocked` need, which moves its segments from one name to another. */
export function blockedPermissions({ probe }: RedisKeys): Permission[] {
  return [
    ...metadataPermissions(probe),
    { command: 'EXISTS', key: probe },
    { command: 'RENAME', key: probe, args: [{ key: `${probe}:renamed` }] },
    ...segmentPermissions(probe, probe),
  ];
}
