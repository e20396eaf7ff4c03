import type { BloomEventListener } from '../common/index.js';
import { isCrowded } from '../filter/index.js';
import type { FilterDescription, FilterLoad } from '../store/index.js';
import type { BloomFilterInfo, FailedAddsReport } from './bloom-filter.js';
import type { FilterDefinition } from './filter-definition.js';
import { OVERFULL_FIXED, OVERFULL_REBUILT, OVERFULL_WITHOUT_SOURCE } from './service.messages.js';
import type { GuardState } from './guard-state.js';

/** Share of the capacity in new ids after which a filter is looked at whose store does not count. */
const LOOK_AT_SHARE = 0.25;

/** Notices with the reply of an add that a filter holds more ids than planned, then at each power of two. */
export class LoadAlarm {
  /** By the part; of a filter that is whole under undefined. */
  private readonly reported = new Map<number | undefined, { generation: string; times: number }>();
  private isCounted = false;
  private added = 0;

  /** @param onPassed called once for each generation and multiple. */
  constructor(
    private readonly capacity: number,
    private readonly onPassed: () => void,
  ) {}

  /** For stores that count, with the reply of an add. */
  readonly record = ({ part, generation, count, capacity }: FilterLoad): void => {
    this.isCounted = true;
    if (count <= capacity || capacity <= 0) return;
    const times = 2 ** Math.floor(Math.log2(count / capacity));
    const before = this.reported.get(part);
    if (before?.generation === generation && times <= before.times) return;
    this.reported.set(part, { generation, times });
    this.onPassed();
  };

  /** For stores that do not count: new ids of this process alone. */
  recordNew(ids: number): void {
    if (this.isCounted) return;
    this.added += ids;
    if (this.added < this.capacity * LOOK_AT_SHARE) return;
    this.added = 0;
    this.onPassed();
  }
}

function remedyOf({ layout, source }: FilterDefinition): string {
  if (layout.hasFixedSize) return OVERFULL_FIXED;
  return source ? OVERFULL_REBUILT : OVERFULL_WITHOUT_SOURCE;
}

function isPassed({ count, capacity, parts = [] }: FilterDescription, planned: FilterDefinition): boolean {
  const isPartPassed = parts.some((part) => 'count' in part && part.count > part.capacity);
  return isPartPassed || count > (capacity > 0 ? capacity : planned.capacity);
}

/** Reports a filter that holds more than planned by `overfull`, and returns what was found. Never rejects. */
export async function findOverfull(
  filter: { readonly name: string; readonly definition: FilterDefinition; info(): Promise<BloomFilterInfo> },
  describe: () => Promise<FilterDescription>,
  emit: BloomEventListener,
): Promise<BloomFilterInfo | undefined> {
  const { name, definition } = filter;
  try {
    const found = await describe();
    // The count of the store tells most filters without measuring; not how many ids are beyond a range.
    const isMeasured = definition.layout.hasFixedSize || found.shape?.isExact;
    if (!isMeasured && !isPassed(found, definition)) return undefined;
    const info = await filter.info();
    const { errorRate, modelledErrorRate } = info;
    if (modelledErrorRate === undefined) return undefined;
    // A client may choose ids of one part.
    const part = info.parts?.find(({ count, capacity }) => count > capacity);
    const { count, capacity } = part ?? info;
    // Bits of an external filter may be more than this application needs.
    const isFull = definition.layout.hasFixedSize
      ? modelledErrorRate > errorRate
      : count > capacity || isCrowded(modelledErrorRate, errorRate);
    if (!isFull) return undefined;
    emit({
      type: 'overfull',
      filter: name,
      ...(part && { part: part.part }),
      count,
      capacity,
      modelledErrorRate,
      remedy: remedyOf(definition),
    });
    return info;
  } catch (error) {
    emit({ type: 'store-error', filter: name, operation: 'look after the filter', error });
    return undefined;
  }
}

/** Ids of failed calls are reported when they fill a tenth of the capacity. */
const PARTS = 10;

export interface FailedAddsContext {
  readonly name: string;
  readonly generation: string | undefined;
  readonly guarding: GuardState;
  info(): Promise<{ readonly capacity: number }>;
}

/**
 * Counts ids of calls that then failed, and reports once for each generation that they fill a good part of
 * it.
 */
export class FailedAdds {
  private generation: string | undefined;
  /** Ids of this generation. */
  private ids = 0;
  private isReported = false;

  /** @param capacity at least that of every generation. */
  constructor(
    private readonly filter: FailedAddsContext,
    private capacity: number,
    private readonly emit: BloomEventListener,
  ) {}

  record({ ids, method }: FailedAddsReport): void {
    this.filter.guarding.failedAdds += ids;
    const { generation } = this.filter;
    // Undefined while it is not known, which says nothing.
    if (generation !== undefined && generation !== this.generation) {
      // A report of a generation that was not known may be of an earlier one, and must not silence this one.
      if (this.generation !== undefined || this.isReported) {
        this.ids = 0;
        this.isReported = false;
      }
      this.generation = generation;
    }
    this.ids += ids;
    if (this.isReported || this.ids * PARTS < this.capacity) return;
    this.isReported = true;
    void this.report(method);
  }

  /** A rebuild may have planned for more than was configured. */
  private async report(method: string): Promise<void> {
    const { name } = this.filter;
    try {
      const { capacity } = await this.filter.info();
      this.capacity = Math.max(this.capacity, capacity);
      if (this.ids * PARTS >= this.capacity)
        this.emit({ type: 'failed-adds', filter: name, ids: this.ids, capacity: this.capacity, method });
      else this.isReported = false;
    } catch (error) {
      this.isReported = false;
      this.emit({ type: 'store-error', filter: name, operation: 'look after the filter', error });
    }
  }
}
