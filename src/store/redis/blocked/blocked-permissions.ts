import { metadataPermissions, type Permission, segmentPermissions } from '../filter/permissions.js';
import type { RedisKeys } from '../meta/redis-keys.js';

/** What the scripts of a filter of layout `blocked` need, which renames its segments. */
export function blockedPermissions({ probe }: RedisKeys, isLeased = false): Permission[] {
  return [
    ...(isLeased ? copyPermissions(probe) : []),
    ...metadataPermissions(probe),
    { command: 'EXISTS', key: probe },
    { command: 'RENAME', key: probe, args: [{ key: `${probe}:renamed` }] },
    ...segmentPermissions(probe, probe),
  ];
}

/** What is needed where a process reads with leases: also by those that only add. */
function copyPermissions(probe: string): Permission[] {
  return [
    { command: 'ZADD', key: probe, args: ['XX', '0', 'probe'] },
    { command: 'ZSCORE', key: probe, args: ['probe'] },
    { command: 'ZRANGE', key: probe, args: ['0', '0'] },
    { command: 'ZCOUNT', key: probe, args: ['0', '0'] },
    { command: 'ZRANGEBYSCORE', key: probe, args: ['0', '0'] },
    { command: 'ZREM', key: probe, args: ['probe'] },
    // Where the option is not known, it is no id of an entry.
    { command: 'XADD', key: probe, args: ['NOMKSTREAM', '*', 'field', 'value'] },
    { command: 'XRANGE', key: probe, args: ['-', '+'] },
    // On a channel to which nobody listens.
    { command: 'PUBLISH', args: [probe, 'probe'] },
    { command: 'XREAD', args: ['COUNT', '1', 'STREAMS', { key: probe }, '0'] },
  ];
}
