import type { StoredGeneration } from './generation-meta.js';
import type { MetadataSnapshot } from 'nestjs-bloom/internal';

/** A generation as its driver uses it: where its ids are, under which keys. */
export interface ResolvedGeneration {
  readonly generation: StoredGeneration;
}

/** What one process knows of a filter whose generations are named by a token. */
export interface GenerationSnapshot<
  Resolved extends ResolvedGeneration,
> extends MetadataSnapshot<StoredGeneration> {
  readonly live: Resolved | undefined;
  readonly staging: Resolved | undefined;
}
