import type { Generation } from '../../../filter/index.js';
import type { CopyableDescription } from '../../index.js';
import type { MetadataSnapshot } from '../protocol/metadata-snapshot.js';
import type { SegmentedGeneration } from '../protocol/segments/segments.js';
import type { NegativeCacheTable } from './negative-cache/negative-cache-table.js';

/** What one process knows of a filter of layout `blocked`. */
export interface BlockedSnapshot extends MetadataSnapshot<Generation> {
  readonly description: CopyableDescription;
  readonly live: SegmentedGeneration | undefined;
  readonly staging: SegmentedGeneration | undefined;
  /** The table of the negative cache that adds have to mark. */
  readonly negativeCache: NegativeCacheTable | undefined;
}
