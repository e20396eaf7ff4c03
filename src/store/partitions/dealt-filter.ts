import { type IdKey, partOf } from '../../filter/index.js';
import type { LocalFilter } from '../index.js';
import type { StagedPart } from './rebuilt-part.js';

/** Deals what a scan reads over the parts. An id of a part that is not rebuilt counts as new, so that the numbers are those of the whole source. */
export class DealtFilter implements LocalFilter {
  /** Different ids of each part. */
  readonly counts: number[];
  private readonly locals: (LocalFilter | undefined)[];

  constructor(
    private readonly of: number,
    parts: readonly StagedPart[],
  ) {
    this.counts = Array.from({ length: of }, () => 0);
    this.locals = Array.from({ length: of });
    for (const { part, staging } of parts) this.locals[part.part] = staging.local;
  }

  addKey(id: IdKey): boolean {
    const part = partOf(id, this.of);
    const local = this.locals[part];
    if (!local) return true;
    if (!local.addKey(id)) return false;
    this.counts[part]!++;
    return true;
  }
}
