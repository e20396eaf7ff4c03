import { type BloomFilterState, BloomFormatError, BloomUnavailableError } from '../../../common/index.js';
import { OtherPartitionsError } from '../../index.js';
import type { FilterContext } from './filter-context.js';
import { OtherOwnerError } from './filter-owner.js';
import { countsNotBelieved, formatTooNew, otherPartitions } from './meta.messages.js';
import { partsOfFormat } from './redis-keys.js';

/** The metadata were written by a newer version of this library. */
export class NewerFormatError extends BloomUnavailableError {}

/** What says that the filter is not for this process. */
const UNDERSTOOD = [OtherOwnerError, OtherPartitionsError, NewerFormatError];

/** Reports what the metadata of one filter show: each finding once. */
export class MetadataReports {
  private state: BloomFilterState | undefined;
  /** The state that was found last; undefined while the filter is left to another application or version. */
  lastState: BloomFilterState | undefined;
  private others: string | undefined;
  private newer = '';
  private unfit = '';
  private hasDisbelieved = false;

  constructor(private readonly context: FilterContext) {}

  /**
   * Reports another state than the last one; the first one that is seen is no news.
   *
   * @param others why this process does not use a generation that others use: reported in any case, until
   *   that changes.
   */
  stateFound(state: BloomFilterState, reason: string, others?: string): void {
    const isNews = others !== undefined && others !== this.others;
    this.others = others;
    if (isNews) this.state = undefined;
    else this.state ??= state;
    this.stateChanged(state, others ?? reason);
  }

  stateChanged(state: BloomFilterState, reason: string): void {
    this.lastState = state;
    if (state === (this.state ?? 'unbuilt')) return;
    this.state = state;
    this.context.emit({ type: 'state-changed', filter: this.context.name, state, reason });
  }

  /** To be called with every error of a look at the metadata. */
  readingFailed(error: unknown): void {
    if (UNDERSTOOD.some((kind) => error instanceof kind)) this.lastState = undefined;
  }

  /** Reports numbers in the metadata that were not written with the generation. */
  countsFound(arePlausible: boolean): void {
    const { name, keys, emit } = this.context;
    if (!arePlausible && !this.hasDisbelieved) {
      emit({ type: 'advice', filter: name, text: countsNotBelieved(keys.meta) });
    }
    this.hasDisbelieved = !arePlausible;
  }

  /** Reports a stored form that this version does not know; returns the error for the caller. */
  otherFormatFound(found: string, supported: string): BloomUnavailableError {
    const { name, emit } = this.context;
    const [parts, partitions] = [partsOfFormat(found), partsOfFormat(supported)];
    if (parts !== undefined && partitions !== undefined && parts !== partitions) {
      const error = new OtherPartitionsError(otherPartitions(name, partitions, parts));
      if (this.newer !== found)
        emit({ type: 'other-partitions', filter: name, partitions, found: parts, error });
      this.newer = found;
      return error;
    }
    if (this.newer !== found) {
      this.newer = found;
      emit({ type: 'newer-format', filter: name, found, supported });
    }
    return new NewerFormatError(formatTooNew(name, found, supported));
  }

  /** Reports why the key that others have left is not taken for the filter. */
  unfitFound(reason: string): void {
    const { name, emit } = this.context;
    if (this.unfit === reason) return;
    this.unfit = reason;
    const error = new BloomFormatError(reason);
    emit({ type: 'store-error', filter: name, operation: 'adopt the key', error });
  }
}
