import type { FilterDescription } from '../../index.js';
import type { CachedView } from './metadata-cache.js';
import type { CompanionGeneration } from './companion-meta.js';

/** A generation as its driver uses it: where its ids are, under which keys. */
export interface PlacedGeneration {
  readonly generation: CompanionGeneration;
}

/** What one process knows of a filter on keys of others, from one reading of its metadata. */
export interface CompanionView<Placed extends PlacedGeneration> extends CachedView {
  readonly live: Placed | undefined;
  readonly staged: Placed | undefined;
  /** Without what has to be measured. */
  readonly description: Omit<FilterDescription, 'count' | 'shape'>;
  /** The server that answered; '' when it may not be asked. */
  readonly runId: string;
}
