import type { IdKey } from 'nestjs-bloom/filter';
import type { RemovableFilter } from 'nestjs-bloom/store';
import { type InMemoryFilter, StoredFilterInMemory } from 'nestjs-bloom/internal';

/** A filter in the memory of this process, of a layout that can remove ids. */
export interface RemovableInMemoryFilter extends InMemoryFilter {
  /** False when the id is certainly not there, or has to stay. */
  removeKey(id: IdKey): boolean;
}

export class RemovableFilterInMemory
  extends StoredFilterInMemory<RemovableInMemoryFilter>
  implements RemovableFilter
{
  async remove(ids: readonly IdKey[]): Promise<boolean[]> {
    return ids.map((id) => this.removeOne(id));
  }

  /**
   * From the live generation only. One that is staged may not have the id, and could lose another for it; what it has is gone with the
   * build after it. Nor may one that has just gone live, if the row was deleted while it was built.
   */
  private removeOne(id: IdKey): boolean {
    const { hasSource, drainMs, clock } = this.options;
    if (hasSource && this.live && clock.now() - this.live.since < drainMs) return false;
    const isRemoved = this.live?.filter.removeKey(id) ?? false;
    if (isRemoved) this.added--;
    return isRemoved;
  }
}
