import { type IdKey, partOf } from '../../filter/index.js';
import type { LocalFilter } from '../index.js';
import type { StagedPart } from './rebuilt-part.js';

/** Deals what a scan reads over the parts. An id of a part that is not rebuilt counts as new, so that the numbers are those of the whole source. */
export class DealtFilter implements LocalFilter {
  isElsewhere = false;
  private readonly locals: (LocalFilter | 'filled' | undefined)[];

  constructor(
    private readonly of: number,
    /** Different ids of each part, of this pass and those before. */
    private readonly counts: number[],
    private readonly pass: number,
    parts: readonly (StagedPart & { readonly passes: number })[],
  ) {
    this.locals = Array.from({ length: of });
    for (const { part, staging, passes } of parts)
      this.locals[part.part] = pass < passes ? staging.local : 'filled';
  }

  addKey(id: IdKey): boolean {
    const part = partOf(id, this.of);
    const local = this.locals[part];
    // An id that nobody takes counts once.
    this.isElsewhere = local === 'filled' || (!local && this.pass > 0);
    if (this.isElsewhere) return false;
    if (typeof local !== 'object') return true;
    const isNew = local.addKey(id);
    this.isElsewhere = local.isElsewhere ?? false;
    if (!isNew) return false;
    this.counts[part]!++;
    return true;
  }
}
