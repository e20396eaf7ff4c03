import { shapeOf } from '../../../filter/index.js';
import type { CopyableDescription } from '../../index.js';
import type { MetadataSnapshot } from '../protocol/metadata-cache.js';
import type { NegativeCacheTable } from './negative-cache/negative-cache-table.js';
import type { KnownMeta } from './blocked-meta.js';
import type { RedisKeys } from '../protocol/redis-keys.js';
import { type SegmentedGeneration, segmentedGeneration } from '../protocol/segments/segments.js';

/** What one process knows of a filter, from one reading of its metadata. */
export interface BlockedSnapshot extends MetadataSnapshot {
  readonly description: CopyableDescription;
  readonly live: SegmentedGeneration | undefined;
  readonly staged: SegmentedGeneration | undefined;
  readonly denials: NegativeCacheTable | undefined;
  /** Whether the hash `meta` was there. */
  readonly stored: boolean;
  /** The server that answered; '' when it may not be asked. */
  readonly runId: string;
}

/** What metadata say, or that there are none. */
export function viewOf(
  meta: KnownMeta | undefined,
  keys: RedisKeys,
  read: Pick<BlockedSnapshot, 'runId' | 'server' | 'readAt'>,
): BlockedSnapshot {
  const live = meta?.live && segmentedGeneration(meta.live, (index) => keys.segment(index));
  const pending = meta?.pending;
  const count = meta?.live ? meta.count : 0;
  return {
    ...read,
    stored: meta !== undefined,
    live,
    staged: pending && segmentedGeneration(pending, (index) => keys.staged(pending.token, index)),
    denials: meta?.denials,
    description: {
      state: meta?.state ?? 'unbuilt',
      generation: meta?.live,
      shape: meta?.live && shapeOf(meta.live, count),
      builds: meta?.builds ?? 0,
      count,
      builtIds: meta?.ids ?? 0,
      capacity: meta?.capacity ?? 0,
      errorRate: meta?.errorRate ?? 0,
      builtAt: meta?.builtAt,
      rebuilding: pending !== undefined,
    },
  };
}
