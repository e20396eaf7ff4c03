import type { FilterFill, IdKey } from '../../filter/index.js';
import {
  type AdvisedFilter,
  type BloomVerdict,
  type CopyableFilter,
  type BloomCopyLease,
  type DistrustPauses,
  type FilterDescription,
  type InstanceBoard,
  type LeaseRequest,
  type LookupOutcome,
  type HighWaterMarks,
  type PartEpochs,
  type RebuildLease,
  type StoredFilter,
  type SharedNegativeCache,
  type StoreRecorder,
  type StoredFilterStatus,
  NO_RECORDER,
  TIMED,
} from '../index.js';
import { LiveCopy, type LiveCopyOptions } from './live-copy.js';

export interface CopiedFilterOptions extends LiveCopyOptions {
  /** Undefined where nobody counts. */
  readonly recorder?: StoreRecorder | undefined;
}

/**
 * One filter and a copy of it. Without a lease the copy only ever answers "maybe". Where it would say
 * "absent", the filter itself is asked, and the block that it reads then refreshes the copy. So no state of
 * the copy can make an id absent that exists: not that of an old generation either. A stale "maybe" costs a
 * query. While its lease proves the copy, it answers "absent" as well, and so it does of ids that it covers.
 */
export class CopiedFilter implements StoredFilter {
  private readonly inner: CopyableFilter;
  private readonly copies: LiveCopy;
  private readonly recorder: StoreRecorder;
  /** Undefined of a store that cannot remove ids. */
  readonly remove: StoredFilter['remove'];

  constructor(options: CopiedFilterOptions) {
    this.recorder = options.recorder ?? NO_RECORDER;
    this.copies = new LiveCopy(options, () => this.describe());
    this.inner = this.copies.original;
    if (this.inner.remove) this.remove = (ids) => this.removeIds(ids);
  }

  get board(): InstanceBoard | undefined {
    return this.inner.board;
  }

  get highWaterMarks(): HighWaterMarks | undefined {
    return this.inner.highWaterMarks;
  }

  get epochs(): PartEpochs | undefined {
    return this.inner.epochs;
  }

  get negativeCache(): SharedNegativeCache | undefined {
    return this.inner.negativeCache;
  }

  get generation(): string | undefined {
    return this.inner.generation;
  }

  get status(): StoredFilterStatus {
    return this.inner.status;
  }

  /** Undefined where no lease was asked for. */
  get copyLease(): BloomCopyLease | undefined {
    return this.copies.leaseStatus;
  }

  async check(ids: readonly IdKey[]): Promise<BloomVerdict[]> {
    const { current: copy } = this.copies;
    if (!copy?.isWhole) return this.inner.check(ids);
    this.copies.answersSinceComparison = true;
    const since = performance.now();
    const own = ids.map((id) => copy.verdict(id));
    const undecided = ids.filter((_, i) => own[i] === undefined);
    if (ids.length > 0) this.recorder.recordLocalTime((performance.now() - since) / ids.length);
    if (undecided.length === ids.length) return this.inner.check(ids);
    const confirmed = undecided.length === 0 ? [] : await this.inner.check(undecided);
    // Replaced meanwhile: one answer is never from two generations.
    if (this.copies.current !== copy) return this.inner.check(ids);
    this.recorder.local += ids.length - undecided.length;
    let next = 0;
    return own.map((verdict) => verdict ?? confirmed[next++]!);
  }

  checkOne(id: IdKey): LookupOutcome | Promise<LookupOutcome> {
    const { copies, recorder } = this;
    const { current, previous } = copies;
    if (!current?.isWhole) {
      if (!previous?.filter.mightContainKey(id)) return this.inner.checkOne(id);
    } else {
      copies.answersSinceComparison = true;
      const since = (recorder.local & TIMED) === TIMED ? performance.now() : 0;
      const isFound = current.filter.mightContainKey(id);
      if (since > 0) recorder.recordLocalTime(performance.now() - since);
      if (!isFound) {
        if (!current.isSureOf(id)) return this.inner.checkOne(id);
        recorder.local++;
        return 'absent';
      }
    }
    recorder.local++;
    return 'maybe';
  }

  hasHint(id: IdKey): boolean {
    return this.copies.hasHint(id);
  }

  async add(ids: readonly IdKey[]): Promise<boolean[]> {
    const { copies } = this;
    if (copies.isLeasable) return this.addLeased(ids);
    const added = await this.inner.add(ids);
    const { current } = copies;
    if (current) for (const id of ids) current.add(id);
    return added;
  }

  /** No add waits for this process: its copies have the ids before the store has them. */
  private async addLeased(ids: readonly IdKey[]): Promise<boolean[]> {
    const { current, adding } = this.copies;
    if (current) for (const id of ids) current.add(id);
    adding.add(ids);
    try {
      return await this.inner.add(ids);
    } finally {
      adding.delete(ids);
    }
  }

  /** What a copy without a lease lacks is asked of the store, so that it may lack any id. */
  private async removeIds(ids: readonly IdKey[]): Promise<boolean[]> {
    const { copies } = this;
    const removed = await this.inner.remove!(ids);
    if (!copies.isLeasable) for (const id of ids) copies.current?.remove(id);
    return removed;
  }

  async describe(): Promise<FilterDescription> {
    const description = await this.inner.describe();
    this.copies.follow(description.generation, description.state);
    return description;
  }

  async verify(): Promise<void> {
    await this.inner.verify();
  }

  measureFill(): Promise<FilterFill | undefined> {
    return this.inner.measureFill();
  }

  distrust(reason: string, pauses?: DistrustPauses): Promise<boolean> {
    this.copies.drop();
    return this.inner.distrust(reason, pauses);
  }

  advise(filter: AdvisedFilter): Promise<readonly string[]> {
    return this.inner.advise(filter);
  }

  /** After a swap the copy of the old generation goes on, as it does in the other processes. */
  lease(request: LeaseRequest): Promise<RebuildLease | undefined> {
    return this.inner.lease(request);
  }

  async close(): Promise<void> {
    await this.copies.close();
    await this.inner.close();
  }
}
