import { type BlockedFilter, BlockedLayout } from '../../src/filter/index.js';
import type { LeaseServer, FeedEntry, FeedListener, HeldCopy, LeaseReply } from '../../src/store/index.js';
import type { CopyableOriginal } from './copyable-original.js';

/** Leases of copies and the feed, where the test says what is delivered, and when. */
export class ScriptedLeases implements LeaseServer {
  server = 'server-1';
  list = 'list-1';
  /** The last entry that was written. */
  number = 0;
  /** In place of a lease. */
  refusal: LeaseReply | undefined;
  /** Whether replies to questions wait for `answer`. */
  isHeldBack = false;
  /** Whether commands fail. */
  isDown = false;
  readonly asked: (HeldCopy | undefined)[] = [];
  readonly acknowledged: HeldCopy[] = [];
  left = 0;
  /** Whether the staging of the original is announced. */
  isAnnounced = false;
  /** Tags of stagings that need not be waited for. */
  readonly copied: number[] = [];
  /** Entries that were written and not delivered. */
  undelivered: FeedEntry[] = [];

  private listener: FeedListener | undefined;
  private readonly heldBack: (() => void)[] = [];

  constructor(private readonly original: CopyableOriginal) {}

  take(held: HeldCopy | undefined): Promise<LeaseReply> {
    this.asked.push(held);
    if (this.isDown) return Promise.reject(new Error('down'));
    const { list, number, refusal } = this;
    const tag = this.original.live!.generation.tag;
    const reply: LeaseReply = refusal ?? { outcome: 'granted', list, number, tag, announced: this.announced };
    if (!this.isHeldBack) return Promise.resolve(reply);
    return new Promise((resolve) => this.heldBack.push(() => resolve(reply)));
  }

  async acknowledge(copy: HeldCopy): Promise<void> {
    if (this.isDown) throw new Error('down');
    this.acknowledged.push(copy);
  }

  async ready(tag: number): Promise<void> {
    if (this.isDown) throw new Error('down');
    this.copied.push(tag);
  }

  async leave(): Promise<void> {
    this.left++;
  }

  follow(after: number, listener: FeedListener): () => void {
    this.listener = listener;
    this.undelivered = this.undelivered.filter(({ number }) => number > after);
    return () => {
      if (this.listener === listener) this.listener = undefined;
    };
  }

  /** Answers the questions that were held back. */
  answer(): void {
    for (const answer of this.heldBack.splice(0)) answer();
  }

  /** Another process adds ids. */
  add(...ids: string[]): void {
    const { live, staging } = this.original;
    const places = addTo(live!, ids);
    const stagedPlaces = staging && addTo(staging, ids);
    this.write(places, this.announced, this.isAnnounced ? stagedPlaces : undefined);
  }

  /** Another process swaps a generation in. */
  swap(ids: readonly string[]): void {
    this.original.swap(ids);
    this.write(undefined);
  }

  /** A rebuild of another process goes live. */
  goLive(): void {
    const { announced } = this;
    this.original.goLive();
    this.isAnnounced = false;
    this.write(undefined, announced);
  }

  private get announced(): number | undefined {
    return this.isAnnounced ? this.original.staging?.generation.tag : undefined;
  }

  deliver({ asMessages = false } = {}): void {
    const entries = this.undelivered.splice(0);
    this.listener?.onEntries(asMessages ? entries.map((entry) => ({ ...entry, isMessage: true })) : entries);
  }

  private write(places: Uint32Array | undefined, staged?: number, stagedPlaces?: Uint32Array): void {
    const { list, original } = this;
    const { tag } = original.live!.generation;
    this.undelivered.push({ list, number: ++this.number, tag, places, staged, stagedPlaces });
  }
}

function addTo(filter: BlockedFilter, ids: readonly string[]): Uint32Array {
  const layout = new BlockedLayout(filter.generation);
  return Uint32Array.from(
    ids.flatMap((id) => (filter.add(id), layout.locate(id), [layout.block, layout.seed >>> 0])),
  );
}
