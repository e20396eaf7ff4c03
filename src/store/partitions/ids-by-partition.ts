import {
  type IdKey,
  type IdRun,
  partOf,
  partOfBytes,
  RegionFilter,
  type RegionsModule,
  regionsModule,
  tableOf,
} from '../../filter/index.js';
import type { DeferringFilter, LocalFilter } from '../index.js';

/**
 * What takes the ids of a part in one pass over the source. An id of a part that is not rebuilt counts as new
 * in the first pass (`not rebuilt`), so that the numbers are those of the whole source, and is `elsewhere` in
 * all other passes.
 */
export type PartOfPass<Local extends LocalFilter = LocalFilter> = Local | 'not rebuilt' | 'elsewhere';

/** Sorts what a scan reads in one pass by the parts that are rebuilt. */
export class IdsByPartition implements LocalFilter {
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

  /** The parts share the memory for ids that wait. */
  deferred(): DeferringFilter | undefined {
    const { parts, counts } = this;
    const filters = parts.filter((local) => typeof local !== 'string').length;
    const deferred = parts.map((local) =>
      typeof local === 'string' ? local : (local.deferred?.(filters) ?? local),
    );
    return deferred.some((local, part) => local !== parts[part])
      ? new DeferredIdsByPartition(deferred, counts)
      : undefined;
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

/** The same, where some parts set bits later. */
class DeferredIdsByPartition extends IdsByPartition implements DeferringFilter {
  takenOfRun = 0;

  private readonly deferring: (readonly [part: number, filter: DeferringFilter])[] = [];
  /** Adds many ids at once; undefined unless all parts are filled region by region. */
  private readonly runs: { module: RegionsModule; table: Int32Array } | undefined;
  private notRebuilt = 0;
  /** Index in `deferring` of the part whose ids are settled next. */
  private settling = 0;

  constructor(parts: readonly PartOfPass<LocalFilter | DeferringFilter>[], counts: number[]) {
    super(parts, counts);
    for (const [part, local] of parts.entries())
      if (typeof local !== 'string' && 'takeNew' in local) this.deferring.push([part, local]);
    const module = regionsModule();
    const areRegions = parts.every((local) => typeof local === 'string' || local instanceof RegionFilter);
    if (module && areRegions) {
      const generations = parts.map((local) =>
        local instanceof RegionFilter ? local.generation : undefined,
      );
      this.runs = { module, table: tableOf(generations) };
    }
  }

  addRun(ids: IdRun, from: number, to: number): number {
    this.takenOfRun = 0;
    if (!this.runs) return 0;
    const { module, table } = this.runs;
    const count = module.locateInParts(ids, from, to, table);
    for (let i = 0; i < count; i++) {
      const local = this.parts[module.parts[i]!]!;
      if (local === 'elsewhere') continue;
      if (local === 'not rebuilt') this.notRebuilt++;
      else if (!this.defer(local as RegionFilter, module.located, i)) continue;
      this.takenOfRun++;
    }
    return count;
  }

  takeNew(): number {
    let newIds = this.notRebuilt;
    this.notRebuilt = 0;
    for (const [part, filter] of this.deferring) {
      const ofPart = filter.takeNew();
      this.counts[part]! += ofPart;
      newIds += ofPart;
    }
    return newIds;
  }

  settleRegion(): boolean {
    for (; this.settling < this.deferring.length; this.settling++)
      if (this.deferring[this.settling]![1].settleRegion()) return true;
    this.settling = 0;
    return false;
  }

  private defer(filter: RegionFilter, located: Int32Array, i: number): boolean {
    filter.defer(located[2 * i]!, located[2 * i + 1]!);
    return !filter.isElsewhere;
  }
}
