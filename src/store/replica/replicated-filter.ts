import type { BloomEventListener, Clock } from '../../common/index.js';
import { BLOCK_BYTES, type FilterFill, type Generation, type IdKey } from '../../filter/index.js';
import {
  type AdvisedFilter,
  type BlockListener,
  type BlocksRead,
  type BloomVerdict,
  type CopyableFilter,
  type DistrustPauses,
  type FilterDescription,
  type InstanceBoard,
  type LeaseRequest,
  type LookupOutcome,
  type MeasurableFilter,
  type RebuildLease,
  type SharedNegativeCache,
  type StoreRecorder,
  type StoredFilterStatus,
  isTimed,
  NO_RECORDER,
} from '../index.js';
import type { CopyBudget } from './copy-budget.js';
import { LocalCopy } from './local-copy.js';
import { noRoomForCopy } from './replica.messages.js';

/** What one command of a load moves, 64 KiB: no lookup waits long behind it. */
const PIECE_BLOCKS = 256;
/** A copy that answered everything on its own is compared with the description after this time. */
const COMPARE_EVERY_MS = 10_000;
/** Pauses between attempts to load a generation double from the first to the last. */
const FIRST_PAUSE_MS = 1_000;
const LAST_PAUSE_MS = 60_000;

export interface ReplicaFilterOptions {
  readonly name: string;
  readonly emit: BloomEventListener;
  readonly clock: Clock;
  /** Undefined where nobody counts. */
  readonly recorder?: StoreRecorder | undefined;
  /** A larger filter is not copied. */
  readonly maxBytes: number;
  /** Shared by all copies of the process. */
  readonly budget: CopyBudget;
  /** Opens the filter that is copied. */
  readonly open: (onBlocks: BlockListener) => CopyableFilter;
}

/**
 * One filter and a copy of it. The copy only ever answers "maybe". Where it would say "absent", the filter itself is asked, and the block
 * that it reads then refreshes the copy. So no state of the copy can make an id absent that exists: not that of an old generation either. A
 * stale "maybe" costs a query.
 */
export class ReplicatedFilter implements MeasurableFilter {
  private readonly inner: CopyableFilter;
  /** Of the generation that answered last; whole or being loaded. */
  private copy: LocalCopy | undefined;
  /**
   * Of the generation before, while the copy is being loaded. All ids of a server would ask it at once otherwise. What has been deleted
   * since is a "maybe" for so long, which costs a query.
   */
  private previous: LocalCopy | undefined;
  private answersSinceComparison = false;
  private comparison: NodeJS.Timeout | undefined;
  private failure: { tag: number; pauseMs: number; retryAt: number } | undefined;
  private closed = false;
  private readonly recorder: StoreRecorder;

  constructor(private readonly options: ReplicaFilterOptions) {
    this.recorder = options.recorder ?? NO_RECORDER;
    this.inner = options.open((read) => this.onBlocks(read));
  }

  get board(): InstanceBoard | undefined {
    return this.inner.board;
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

  async check(ids: readonly IdKey[]): Promise<BloomVerdict[]> {
    const { copy } = this;
    if (!copy?.isWhole) return this.inner.check(ids);
    this.answersSinceComparison = true;
    const since = performance.now();
    const undecided = ids.filter((id) => !copy.mightContain(id));
    if (ids.length > 0) this.recorder.timedLocal((performance.now() - since) / ids.length);
    if (undecided.length === ids.length) return this.inner.check(ids);
    const confirmed = undecided.length > 0 ? await this.inner.check(undecided) : [];
    // Replaced meanwhile: one answer is never from two generations.
    if (this.copy !== copy) return this.inner.check(ids);
    this.recorder.local += ids.length - undecided.length;
    let next = 0;
    return ids.map((id) => (id === undecided[next] ? confirmed[next++]! : 'maybe'));
  }

  checkOne(id: IdKey): LookupOutcome | Promise<LookupOutcome> {
    const { copy, previous } = this;
    if (!copy?.isWhole) {
      if (!previous?.mightContain(id)) return this.inner.checkOne(id);
    } else {
      this.answersSinceComparison = true;
      if (isTimed(this.recorder)) return this.checkTimed(copy, id);
      if (!copy.mightContain(id)) return this.inner.checkOne(id);
    }
    this.recorder.local++;
    return 'maybe';
  }

  private checkTimed(copy: LocalCopy, id: IdKey): LookupOutcome | Promise<LookupOutcome> {
    const { recorder } = this;
    const since = performance.now();
    const isFound = copy.mightContain(id);
    recorder.timedLocal(performance.now() - since);
    if (!isFound) return this.inner.checkOne(id);
    recorder.local++;
    return 'maybe';
  }

  async add(ids: readonly IdKey[]): Promise<boolean[]> {
    const added = await this.inner.add(ids);
    const { copy } = this;
    if (copy) for (const id of ids) copy.add(id);
    return added;
  }

  async describe(): Promise<FilterDescription> {
    const description = await this.inner.describe();
    this.follow(description.generation);
    return description;
  }

  async verify(): Promise<void> {
    await this.inner.verify();
  }

  measureFill(): Promise<FilterFill | undefined> {
    return this.inner.measureFill();
  }

  distrust(reason: string, pauses?: DistrustPauses): Promise<boolean> {
    this.drop();
    return this.inner.distrust(reason, pauses);
  }

  advise(filter: AdvisedFilter): Promise<readonly string[]> {
    return this.inner.advise(filter);
  }

  /** A swap by this process needs no care: the copy of the old generation goes on as it does in the other processes. */
  lease(request: LeaseRequest): Promise<RebuildLease | undefined> {
    return this.inner.lease(request);
  }

  async close(): Promise<void> {
    this.closed = true;
    this.drop();
    await this.inner.close();
  }

  private onBlocks(read: BlocksRead): void {
    const { copy } = this;
    if (copy?.generation.tag !== read.generation.tag) return this.follow(read.generation);
    this.answersSinceComparison = false;
    if (copy.isWhole) copy.refresh(read);
  }

  /** Makes the copy one of the generation that is live now. */
  private follow(live: Generation | undefined): void {
    const { copy: before } = this;
    if (before && before.generation.tag === live?.tag) return;
    this.drop();
    if (!live || this.closed || live.blocks * BLOCK_BYTES > this.options.maxBytes) return;
    if (this.failure?.tag === live.tag && this.options.clock.now() < this.failure.retryAt) return;
    const { budget } = this.options;
    const bytes = live.blocks * BLOCK_BYTES;
    if (!budget.claim(bytes)) return this.adviseOnNoRoom(bytes);
    const copy = new LocalCopy(live);
    this.copy = copy;
    if (before?.isWhole && !before.isCrowded() && budget.claim(before.byteLength)) this.previous = before;
    void budget.inTurn(bytes, () => this.load(copy));
  }

  private drop(): void {
    const { budget } = this.options;
    if (this.copy) budget.release(this.copy.byteLength);
    this.copy = undefined;
    this.dropPrevious();
    clearInterval(this.comparison);
  }

  private dropPrevious(): void {
    if (this.previous) this.options.budget.release(this.previous.byteLength);
    this.previous = undefined;
  }

  private adviseOnNoRoom(bytes: number): void {
    const { budget, emit, name } = this.options;
    if (!budget.isFirstRefusal()) return;
    emit({ type: 'advice', filter: name, text: noRoomForCopy(bytes, budget.limits.maxBytes) });
  }

  private async load(copy: LocalCopy): Promise<void> {
    if (this.copy !== copy) return;
    const { blocks } = copy.generation;
    try {
      for (let first = 0; first < blocks; first += PIECE_BLOCKS) {
        const count = Math.min(PIECE_BLOCKS, blocks - first);
        const bytes = await this.inner.readBlocks(first, count);
        if (this.copy !== copy) return;
        if (bytes.length !== count * BLOCK_BYTES || !copy.fill(first, bytes)) {
          // Swapped or damaged: the next lookup finds out.
          return this.giveUp(copy);
        }
        await this.options.budget.pay(bytes.length);
        if (this.copy !== copy) return;
      }
      copy.isWhole = true;
      this.dropPrevious();
      this.failure = undefined;
      this.comparison = setInterval(() => void this.compare(), COMPARE_EVERY_MS).unref();
    } catch (error) {
      if (this.copy !== copy) return;
      const { name, emit } = this.options;
      emit({ type: 'store-error', filter: name, operation: 'load the local copy', error });
      this.giveUp(copy);
    }
  }

  private giveUp({ generation: { tag } }: LocalCopy): void {
    const before = this.failure?.tag === tag ? this.failure.pauseMs : FIRST_PAUSE_MS / 2;
    const pauseMs = Math.min(before * 2, LAST_PAUSE_MS);
    this.failure = { tag, pauseMs, retryAt: this.options.clock.now() + pauseMs };
    this.drop();
  }

  /** Lookups that all ended here never showed whether the generation is still the live one. */
  private async compare(): Promise<void> {
    if (!this.answersSinceComparison) return;
    this.answersSinceComparison = false;
    try {
      await this.describe();
    } catch (error) {
      const { name, emit } = this.options;
      emit({ type: 'store-error', filter: name, operation: 'compare the local copy', error });
    }
  }
}
