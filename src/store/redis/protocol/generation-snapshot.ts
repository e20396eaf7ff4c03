import type { FilterDescription } from '../../index.js';
import type { MetadataSnapshot } from './metadata-cache.js';
import type { StoredGeneration } from './generation-meta.js';

/** A generation as its driver uses it: where its ids are, under which keys. */
export interface ResolvedGeneration {
  readonly generation: StoredGeneration;
}

/** What one process knows of a filter on keys of others, from one reading of its metadata. */
export interface GenerationSnapshot<Resolved extends ResolvedGeneration> extends MetadataSnapshot {
  readonly live: Resolved | undefined;
  readonly staged: Resolved | undefined;
  /** Without what has to be measured. */
  readonly description: Omit<FilterDescription, 'count' | 'shape'>;
  /** The server that answered; '' when it may not be asked. */
  readonly runId: string;
}
