import type { StoredGeneration } from '../generation/generation-meta.js';
import type { GenerationSnapshot } from '../generation/generation-snapshot.js';
import type { StoredFilterContext } from 'nestjs-bloom/internal';
import type { GrowingKeys } from './growing-keys.js';
import type { GrowingReader } from './growing-reader.js';
import type { GrowingScripts } from './growing-scripts.js';
import type { ResolvedGrowing } from './resolved-growing.js';

export type GrowingSnapshot = GenerationSnapshot<ResolvedGrowing>;

/** What everything that works on one filter that grows shares. */
export interface GrowingContext extends StoredFilterContext<StoredGeneration, GrowingSnapshot> {
  readonly keys: GrowingKeys;
  readonly growing: GrowingScripts;
  readonly reader: GrowingReader;
}
