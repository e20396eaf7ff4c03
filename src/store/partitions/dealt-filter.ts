import type { DeferringFilter } from '../index.js';
import { DealtIds, type PartOfPass } from './dealt-ids.js';
import { DeferredParts } from './deferred-parts.js';
import type { StagedPart } from './rebuilt-part.js';

/** What a scan reads in one pass, dealt over the parts that are rebuilt. */
export class DealtFilter extends DealtIds {
  /** @param counts different ids of each part, of this pass and those before. */
  constructor(
    of: number,
    counts: number[],
    pass: number,
    staged: readonly (StagedPart & { readonly passes: number })[],
  ) {
    const parts = Array.from({ length: of }, (): PartOfPass => (pass > 0 ? 'elsewhere' : 'not rebuilt'));
    for (const { part, staging, passes } of staged)
      parts[part.part] = pass < passes ? staging.local : 'elsewhere';
    super(parts, counts);
  }

  /** The parts share the memory for ids that wait. */
  deferred(): DeferringFilter | undefined {
    const { parts, counts } = this;
    const filters = parts.filter((local) => typeof local !== 'string').length;
    const deferred = parts.map((local) =>
      typeof local === 'string' ? local : (local.deferred?.(filters) ?? local),
    );
    return deferred.some((local, part) => local !== parts[part])
      ? new DeferredParts(deferred, counts)
      : undefined;
  }
}
