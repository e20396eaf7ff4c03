import { type IdRun, RegionFilter, type RegionsModule, regionsModule, tableOf } from '../../filter/index.js';
import type { DeferringFilter, LocalFilter } from '../index.js';
import { DealtIds, type PartOfPass } from './dealt-ids.js';

/** The parts of a scan, some of which set bits later. */
export class DeferredParts extends DealtIds implements DeferringFilter {
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
