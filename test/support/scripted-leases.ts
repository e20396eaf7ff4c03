import { BlockedLayout } from '../../src/filter/index.js';
import type { CopyLeases, FeedEntry, FeedListener, HeldCopy, LeaseReply } from '../../src/store/index.js';
import type { CopyableOriginal } from './copyable-original.js';

/** Leases of copies and the feed, where the test says what is delivered, and when. */
export class ScriptedLeases implements CopyLeases {
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
    const reply: LeaseReply = refusal ?? { outcome: 'granted', list, number, tag };
    if (!this.isHeldBack) return Promise.resolve(reply);
    return new Promise((resolve) => this.heldBack.push(() => resolve(reply)));
  }

  async acknowledge(copy: HeldCopy): Promise<void> {
    if (this.isDown) throw new Error('down');
    this.acknowledged.push(copy);
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
    const { live } = this.original;
    const layout = new BlockedLayout(live!.generation);
    const places = ids.flatMap((id) => (live!.add(id), layout.locate(id), [layout.block, layout.seed >>> 0]));
    this.write(Uint32Array.from(places));
  }

  /** Another process swaps a generation in. */
  swap(ids: readonly string[]): void {
    this.original.swap(ids);
    this.write(undefined);
  }

  deliver({ asMessages = false } = {}): void {
    const entries = this.undelivered.splice(0);
    this.listener?.onEntries(asMessages ? entries.map((entry) => ({ ...entry, isMessage: true })) : entries);
  }

  private write(places: Uint32Array | undefined): void {
    const { list, original } = this;
    this.undelivered.push({ list, number: ++this.number, tag: original.live!.generation.tag, places });
  }
}
