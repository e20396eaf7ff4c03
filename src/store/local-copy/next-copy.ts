import type { BloomEventListener } from '../../common/index.js';
import { BLOCK_BYTES, type Generation } from '../../filter/index.js';
import type { CopyableFilter, FeedEntry, LeaseServer } from '../index.js';
import type { CopyBudget } from './copy-budget.js';
import { LocalCopy, readBlocks } from './local-copy.js';

export interface NextCopyOptions {
  readonly name: string;
  readonly emit: BloomEventListener;
  readonly maxBytes: number;
  readonly budget: CopyBudget;
}

/**
 * The copy of an announced staging, beside the one that answers, which it replaces at the moment the staging
 * goes live: the lease goes on, and no lookup asks the store. Without it the copy ends with its generation.
 */
export class NextCopy {
  /** The tag of the staging that was announced last. */
  tag: Generation['tag'] | undefined;
  private copy: LocalCopy | undefined;
  /** The last attempt to copy a staging. What an earlier one reads is discarded. */
  private attempt = {};
  /** Whether a rebuild still waits for this process, because the store could not be told otherwise. */
  private isUnannounced = false;

  constructor(
    private readonly original: Pick<CopyableFilter, 'staged'>,
    private readonly leases: LeaseServer,
    private readonly options: NextCopyOptions,
  ) {}

  /**
   * A renewal says which staging is announced, and what is live.
   *
   * @param isLeased false: the copy that answers is still being loaded, and no rebuild waits for that.
   */
  follow(announced: Generation['tag'] | undefined, live: Generation['tag'], isLeased: boolean): void {
    if (announced !== undefined && announced === this.tag && this.isUnannounced)
      void this.announce(announced);
    // It went live, and the entry that says so is on its way.
    if (announced === this.tag || this.tag === live) return;
    this.drop();
    if (announced !== undefined) void this.make(announced, isLeased);
  }

  /** Takes what an entry says of the staging. */
  apply({ staged, stagedPlaces }: FeedEntry): void {
    const { copy } = this;
    if (!copy || !stagedPlaces || staged !== copy.generation.tag) return;
    if (!copy.insert(stagedPlaces)) this.dropCopy();
  }

  /**
   * A whole copy of the generation that goes live with this entry, if there is one; the caller owns it then.
   */
  takeFor({ tag, places, staged }: FeedEntry): LocalCopy | undefined {
    const { copy } = this;
    const isOfSwap = places === undefined && staged === tag && copy?.generation.tag === tag;
    if (!copy?.isWhole || !isOfSwap) return undefined;
    this.copy = undefined;
    this.tag = undefined;
    return copy;
  }

  drop(): void {
    this.attempt = {};
    this.isUnannounced = false;
    this.tag = undefined;
    this.dropCopy();
  }

  private async make(tag: Generation['tag'], isLeased: boolean): Promise<void> {
    const { name, emit } = this.options;
    const attempt = {};
    this.attempt = attempt;
    this.tag = tag;
    try {
      if (isLeased) await this.load(tag, attempt);
    } catch (error) {
      if (this.attempt !== attempt) return;
      emit({ type: 'store-error', filter: name, operation: 'copy the staged generation', error });
      this.dropCopy();
    }
    // Said without a copy as well: the rebuild need not wait for this process.
    if (this.attempt === attempt) await this.announce(tag);
  }

  /** Says so again with the next renewal if the store cannot be asked. */
  private async announce(tag: Generation['tag']): Promise<void> {
    const { name, emit } = this.options;
    const { attempt } = this;
    this.isUnannounced = false;
    try {
      await this.leases.ready(tag);
    } catch (error) {
      emit({ type: 'store-error', filter: name, operation: 'say that the staging is copied', error });
      this.isUnannounced = this.attempt === attempt;
    }
  }

  private async load(tag: Generation['tag'], attempt: object): Promise<void> {
    const { budget, maxBytes } = this.options;
    const { server } = this.leases;
    const staged = await this.original.staged?.(tag);
    if (!staged || this.attempt !== attempt) return;
    const { generation } = staged;
    const bytes = generation.blocks * BLOCK_BYTES;
    if (bytes > maxBytes || !budget.claim(bytes)) return;
    const copy = this.copyOf(generation);
    this.copy = copy;
    await budget.inTurn(bytes, async () => {
      const outcome = await readBlocks(copy, staged, budget, () => this.copy === copy);
      if (this.copy !== copy) return;
      if (outcome === 'read' && this.leases.server === server) copy.isWhole = true;
      else this.dropCopy();
    });
  }

  /** @throws {RangeError} when the process has no memory for it. */
  private copyOf(generation: Generation): LocalCopy {
    try {
      return new LocalCopy(generation, true);
    } catch (error) {
      this.options.budget.release(generation.blocks * BLOCK_BYTES);
      throw error;
    }
  }

  private dropCopy(): void {
    if (this.copy) this.options.budget.release(this.copy.byteLength);
    this.copy = undefined;
  }
}
