import { type IdKey, partOf, partOfBytes } from '../../filter/index.js';
import type { LocalFilter } from '../index.js';

/**
 * What takes the ids of a part in one pass over the source. An id of a part that is not rebuilt counts as new in the first pass (`not rebuilt`), so that the numbers
 * are those of the whole source, and as one of another pass in all that follow (`elsewhere`).
 */
export type PartOfPass<Local extends LocalFilter = LocalFilter> = Local | 'not rebuilt' | 'elsewhere';

/** Deals what a scan reads over the parts. */
export class DealtIds implements LocalFilter {
  isElsewhere = false;
  /** Only where all parts have this method. */
  readonly addBytes: LocalFilter['addBytes'];

  constructor(
    protected readonly parts: readonly PartOfPass[],
    /** Different ids of each part, of this pass and those before. */
    protected readonly counts: number[],
  ) {
    if (parts.every((local) => typeof local === 'string' || local.addBytes)) {
      this.addBytes = (bytes, start, end) => {
        const part = partOfBytes(bytes, start, end, parts.length);
        const local = this.localOf(part);
        return local ? this.counted(part, local, local.addBytes!(bytes, start, end)) : !this.isElsewhere;
      };
    }
  }

  addKey(id: IdKey): boolean {
    const part = partOf(id, this.parts.length);
    const local = this.localOf(part);
    return local ? this.counted(part, local, local.addKey(id)) : !this.isElsewhere;
  }

  /** Undefined where nobody takes the ids. */
  private localOf(part: number): LocalFilter | undefined {
    const local = this.parts[part]!;
    this.isElsewhere = local === 'elsewhere';
    return typeof local === 'string' ? undefined : local;
  }

  private counted(part: number, local: LocalFilter, isNew: boolean): boolean {
    this.isElsewhere = local.isElsewhere ?? false;
    if (isNew) this.counts[part]!++;
    return isNew;
  }
}
