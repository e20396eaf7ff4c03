import type { FilterDescription } from '../../index.js';

/** What one process knows of a filter, from one reading of its metadata. */
export interface MetadataSnapshot<Stored = unknown> extends MetadataReading {
  /** What answers; undefined unless the filter is ready. */
  readonly live: { readonly generation: Stored } | undefined;
  /** What a rebuild is about to make live, and every add is written to as well. */
  readonly staging: { readonly generation: Stored } | undefined;
  /** Without what has to be measured. */
  readonly description: Omit<FilterDescription, 'count' | 'shape'>;
  /** Whether the hash `meta` was there. */
  readonly stored: boolean;
  /** What is left out above, since processes made it that have other ids, or spell them otherwise. */
  readonly others?: OthersGenerations | undefined;
}

export interface OthersGenerations {
  /** Why this process does not use the live generation; undefined where it does. */
  readonly reason: string | undefined;
  /** Token of the staged generation that no add of this process is written to. */
  readonly staging: string | undefined;
  /** With all that the metadata name. */
  readonly asStored: MetadataSnapshot;
}

/** Which server was read, and when. */
export interface MetadataReading {
  /** As the connection named it when the reading was begun. */
  readonly server: string;
  /** Empty when the server may not be asked. */
  readonly runId: string;
  readonly readAt: number;
}
