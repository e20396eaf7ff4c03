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
  /** What names the live generation in the metadata: its tag, with a prefix where the filter is read with leases; '' for none. */
  readonly storedTag: string;
  /** Longest lease of a process that answers from a copy, in milliseconds; undefined: none does. */
  readonly leasesMs: number | undefined;
  /** Until when a copy may be believed in that the metadata do not know of, by `performance.now()`; 0: none. */
  readonly unseenUntil: number;
  /** The table of the negative cache that adds have to mark. */
  readonly negativeCache: NegativeCacheTable | undefined;
}
