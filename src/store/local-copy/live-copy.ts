import type { BloomEventListener, BloomFilterState, Clock } from '../../common/index.js';
import { BLOCK_BYTES, type Generation, type IdKey } from '../../filter/index.js';
import type { BlockListener, BloomCopyLease, BlocksRead, CopyableFilter, CoveredIds } from '../index.js';
import type { CopyBudget } from './copy-budget.js';
import { Lease } from './lease.js';
import { LeaseReport } from './lease-report.js';
import { LocalCopy, readBlocks } from './local-copy.js';
import { COPY_ABSENT, LOAD_FAILED, noRoomForCopy, STORE_WITHOUT_LEASES } from './local-copy.messages.js';
import { NextCopy } from './next-copy.js';

const LOOK_EVERY_MS = 1_000;
/** A copy that answered everything on its own is compared with the description after so many looks. */
const LOOKS_PER_COMPARISON = 10;
/** Pauses between attempts to load a generation double from the first to the last. */
const FIRST_PAUSE_MS = 1_000;
const LAST_PAUSE_MS = 60_000;

export interface LiveCopyOptions {
  readonly name: string;
  readonly emit: BloomEventListener;
  readonly clock: Clock;
  /** A larger filter is not copied. */
  readonly maxBytes: number;
  /** Shared by all copies of the process. */
  readonly budget: CopyBudget;
  /** For how long at a time the copy may answer "absent", in milliseconds; undefined: never. */
  readonly leaseMs?: number | undefined;
  /** As the store is given it. */
  readonly covers?: (() => CoveredIds | undefined) | undefined;
  /** Opens the filter that is copied. */
  readonly open: (onBlocks: BlockListener) => CopyableFilter;
}

/**
 * The copy of the live generation, as far as this process knows. Makes it, loads it, and drops it with its
 * generation.
 */
export class LiveCopy {
  /** The copy of the generation that answered last; whole or being loaded. */
  current: LocalCopy | undefined;
  /**
   * The copy of the generation before, while `current` is being loaded: otherwise all ids would ask the
   * server at once. What has been deleted since is a "maybe" for so long, which costs a query.
   */
  previous: LocalCopy | undefined;
  /** The last whole copy until another one is whole, also where its generation is lost. Answers nothing. */
  private kept: LocalCopy | undefined;
  answersSinceComparison = false;
  readonly original: CopyableFilter;

  /** Ids of adds that are on their way, which each copy has: an add does not wait for its own process. */
  readonly adding = new Set<readonly IdKey[]>();

  private readonly lease: Lease | undefined;
  private readonly unleasable: LeaseReport;
  private readonly next: NextCopy | undefined;
  /** Tag of the copy that the present one has replaced: replies from before the swap may still name it. */
  private tagBefore: number | undefined;
  private comparison: NodeJS.Timeout | undefined;
  private looks = 0;
  /** The copy whose load waits for its turn or runs. */
  private loading: LocalCopy | undefined;
  private failure: { tag: number; pauseMs: number; retryAt: number } | undefined;
  private isClosed = false;

  constructor(
    private readonly options: LiveCopyOptions,
    /** Asks what is live, and hands it to `follow`. */
    private readonly describe: () => Promise<unknown>,
  ) {
    this.original = options.open(this.onBlocks);
    const { original } = this;
    const { leases } = original;
    const { leaseMs } = options;
    this.unleasable = new LeaseReport(options, STORE_WITHOUT_LEASES);
    if (!leases || leaseMs === undefined) return;
    const next = new NextCopy(original, leases, options);
    this.next = next;
    this.lease = new Lease({
      ...options,
      leases,
      leaseMs,
      next,
      onSucceeded: (successor) => this.goOnWith(successor),
      onReloadDue: () => this.reload(),
      onGenerationEnded: () => void this.lookAgain(),
    });
  }

  get isLeasable(): boolean {
    return this.lease !== undefined;
  }

  /** What a copy covers whose blocks are read next. A leased one needs no more than its lease. */
  private get covers(): CoveredIds | undefined {
    return this.isLeasable ? undefined : this.options.covers?.();
  }

  /** Whether the last copy that was whole has the id. */
  hasHint(id: IdKey): boolean {
    const copy = this.current?.isWhole ? this.current : this.kept;
    return copy !== undefined && copy.filter.mightContainKey(id);
  }

  /** Undefined where no lease was asked for. */
  get leaseStatus(): BloomCopyLease | undefined {
    if (this.options.leaseMs === undefined) return undefined;
    return this.lease?.status ?? this.unleasable.status(false, 0);
  }

  /** What a check has read is as new as its answer. */
  private readonly onBlocks = ({ generation, numbers, blocks }: BlocksRead): void => {
    const { current } = this;
    if (current?.generation.tag !== generation.tag) return this.follow(generation);
    this.answersSinceComparison = false;
    if (!current.isWhole) return;
    for (let i = 0; i < blocks.length; i++) current.fill(numbers[i]!, blocks[i]!);
  };

  /** Makes the copy one of the generation that is live now. */
  follow(live: Generation | undefined, state?: BloomFilterState): void {
    const { current: before } = this;
    if (before && before.generation.tag === live?.tag) return;
    // The store has lost the filter. What the copy covers is as true as before.
    if (before?.covers && (state === 'lost' || state === 'unbuilt')) return;
    // The feed says when the generation of a leased copy is over.
    if (before?.proof && live && (live.tag === this.next?.tag || live.tag === this.tagBefore)) return;
    this.drop();
    if (!live || this.isClosed || live.blocks * BLOCK_BYTES > this.options.maxBytes) return;
    if (this.failure?.tag === live.tag && this.options.clock.now() < this.failure.retryAt) return;
    const { budget } = this.options;
    const bytes = live.blocks * BLOCK_BYTES;
    if (!budget.claim(bytes)) return this.adviseOnNoRoom(bytes);
    const copy = new LocalCopy(live, this.isLeasable || this.options.covers !== undefined);
    for (const ids of this.adding) for (const id of ids) copy.add(id);
    this.current = copy;
    if (before && this.kept === before && !before.isCrowded()) this.previous = before;
    this.loadInTurn(copy);
  }

  /** The generation of this copy went live, and the lease is for it from now on. */
  private goOnWith(successor: LocalCopy): void {
    const { current: before } = this;
    this.current = successor;
    if (before) this.options.budget.release(before.byteLength);
    this.dropKept();
    this.tagBefore = before?.generation.tag;
    this.failure = undefined;
    for (const ids of this.adding) for (const id of ids) successor.add(id);
    // What else this process knows of the filter is old.
    void this.lookAgain();
  }

  drop(): void {
    const { budget } = this.options;
    const { current } = this;
    this.current = undefined;
    this.tagBefore = undefined;
    if (current?.isWhole) this.keep(current);
    else if (current) budget.release(current.byteLength);
    this.previous = undefined;
    clearInterval(this.comparison);
    this.lease?.end(COPY_ABSENT);
    this.next?.drop();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const left = this.lease?.close();
    this.drop();
    this.dropKept();
    await left;
  }

  private keep(copy: LocalCopy): void {
    this.dropKept();
    this.kept = copy;
    this.options.budget.spareIs(this, copy.byteLength, () => this.dropKept());
  }

  private dropKept(): void {
    const { kept } = this;
    const { budget } = this.options;
    this.previous = this.kept = undefined;
    budget.noSpare(this);
    if (kept) budget.release(kept.byteLength);
  }

  private adviseOnNoRoom(bytes: number): void {
    const { budget, emit, name } = this.options;
    if (!budget.isFirstRefusal()) return;
    emit({ type: 'advice', filter: name, text: noRoomForCopy(bytes, budget.limits.maxBytes) });
  }

  private loadInTurn(copy: LocalCopy): void {
    this.loading = copy;
    void this.options.budget.inTurn(copy.byteLength, async () => {
      await this.load(copy);
      if (this.loading === copy) this.loading = undefined;
    });
  }

  /** Reads the blocks of a whole copy once more, under another lease, or for what is covered now. */
  private reload(): void {
    const { current } = this;
    if (current?.isWhole && this.loading !== current) this.loadInTurn(current);
  }

  private async load(copy: LocalCopy): Promise<void> {
    if (this.current !== copy) return;
    const { name, emit, budget } = this.options;
    const { lease } = this;
    try {
      if (lease && !(await this.hasUse(lease, copy))) return;
      // Before any block is read: what is covered from then on, the blocks may lack.
      const { covers } = this;
      const isWanted = () =>
        this.current === copy && (!copy.isWhole || copy.proof !== undefined || covers !== undefined);
      const outcome = await readBlocks(copy, this.original, budget, isWanted);
      // Swapped or damaged: the next lookup finds out.
      if (outcome === 'foreign') return this.giveUp(copy);
      if (outcome === 'unwanted') return;
      // The server that was read may be another one by now, which has lost what was added to the generation.
      if (covers) await this.describe();
      if (this.current !== copy) return;
      copy.covers = covers;
      this.becomeWhole(copy);
      lease?.loaded(copy);
    } catch (error) {
      if (this.current !== copy) return;
      emit({ type: 'store-error', filter: name, operation: 'load the local copy', error });
      if (copy.isWhole) lease?.end(LOAD_FAILED);
      else this.giveUp(copy);
    }
  }

  /** Asks for a lease; whether there is any use in reading blocks. */
  private async hasUse(lease: Lease, copy: LocalCopy): Promise<boolean> {
    let outcome = await lease.begin(copy);
    if (outcome === 'ended' && this.current === copy) {
      // What this process knew of the filter may have been old.
      await this.lookAgain();
      if (this.current === copy) outcome = await lease.begin(copy);
    }
    if (this.current !== copy) {
      lease.end(COPY_ABSENT);
      return false;
    }
    if (outcome === 'ended' && !copy.isWhole) this.giveUp(copy);
    return outcome === 'granted' || (outcome === 'none' && !copy.isWhole);
  }

  private becomeWhole(copy: LocalCopy): void {
    if (copy.isWhole) return;
    copy.isWhole = true;
    this.dropKept();
    this.failure = undefined;
    this.looks = 0;
    this.comparison = setInterval(() => void this.compare(), LOOK_EVERY_MS).unref();
  }

  private giveUp({ generation: { tag } }: LocalCopy): void {
    const before = this.failure?.tag === tag ? this.failure.pauseMs : FIRST_PAUSE_MS / 2;
    const pauseMs = Math.min(before * 2, LAST_PAUSE_MS);
    this.failure = { tag, pauseMs, retryAt: this.options.clock.now() + pauseMs };
    this.drop();
  }

  /** Lookups that all ended here never show whether the generation is still live; renewals of a lease do. */
  private async compare(): Promise<void> {
    const { current } = this;
    // Nothing was covered when its blocks were read, or nothing of that is any more.
    if (current && current.covers?.era.isOver !== false && this.covers) this.reload();
    const isDue = ++this.looks % LOOKS_PER_COMPARISON === 0 || current?.covers !== undefined;
    if (!isDue || !this.answersSinceComparison || current?.isProven) return;
    this.answersSinceComparison = false;
    await this.lookAgain();
  }

  private async lookAgain(): Promise<void> {
    try {
      await this.describe();
    } catch (error) {
      const { name, emit } = this.options;
      emit({ type: 'store-error', filter: name, operation: 'compare the local copy', error });
    }
  }
}
