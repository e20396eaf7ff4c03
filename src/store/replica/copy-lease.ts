import type { BloomEventListener, Clock } from '../../common/index.js';
import type { CopyLeases, FeedEntry, FeedListener, LeaseReply } from '../index.js';
import { Belief, type Moment } from './belief.js';
import type { CopyProof, LocalCopy } from './local-copy.js';
import type { NextCopy } from './next-copy.js';
import {
  ANOTHER_GENERATION,
  COPY_ABSENT,
  ENTRIES_LOST,
  FEED_SILENT,
  LOAD_FAILED,
  NOT_LIVE,
  OTHER_FEED,
} from './replica.messages.js';

/** A reader that waits for entries longer than so many leases follows no feed any more. */
const SILENT_LEASES = 10;
/** Of a lease: timers are early by less. */
const TIMER_SHARE = 1 / 16;
/** The longest pause between two attempts to renew while the store cannot be asked. */
const LONGEST_PAUSE_MS = 2_000;

export interface CopyLeaseContext {
  readonly name: string;
  readonly emit: BloomEventListener;
  readonly clock: Pick<Clock, 'now' | 'wall'>;
  readonly leases: CopyLeases;
  readonly leaseMs: number;
  readonly next: NextCopy;
  /** Called when a copy takes the place of the one that was leased, and the lease with it. */
  readonly onSucceeded: (lease: CopyLease, before: LocalCopy) => void;
  /** Called when the copy may be believed, each time that the lease has been renewed. */
  readonly onBelieved: () => void;
  /** Called once. */
  readonly onEnded: (lease: CopyLease, reason: string) => void;
}

type Granted = Extract<LeaseReply, { outcome: 'granted' }>;

/**
 * The lease of one copy, from when it was granted to its end: applies the entries of the feed to the copy, acknowledges them, and renews the lease. A copy that may lack
 * something has no lease any more; it is loaded again under another one.
 */
export class CopyLease implements FeedListener, CopyProof {
  private present: LocalCopy;
  private readonly belief: Belief;
  private readonly list: string;
  /** That granted the first lease of this copy. */
  private readonly server: string;
  private applied: number;
  /** The last entry that is known to have been written. */
  private written: number;
  private acknowledged: number;
  private isAcknowledging = false;
  private isLoaded = false;
  /** A lease that was granted and does not count yet. */
  private grant: { readonly asked: Moment; readonly number: number } | undefined;
  private askedAt: number;
  private isAsking = false;
  private failures = 0;
  private hasEnded = false;
  private left: Promise<void> | undefined;
  private readonly stop: () => void;

  constructor(
    copy: LocalCopy,
    { list, number }: Granted,
    asked: Moment,
    private readonly context: CopyLeaseContext,
  ) {
    const { clock, leaseMs, leases } = context;
    this.present = copy;
    this.belief = new Belief(clock, leaseMs);
    this.list = list;
    this.server = leases.server;
    this.applied = this.written = this.acknowledged = number;
    this.grant = { asked, number };
    this.askedAt = asked.now;
    this.stop = leases.follow(number, this);
  }

  get copy(): LocalCopy {
    return this.present;
  }

  get isBelieved(): boolean {
    return this.belief.isHeld;
  }

  /** Entries that are known to have been written, and are not applied. */
  get behind(): number {
    return this.written - this.applied;
  }

  /** All blocks have been read since the lease was granted. */
  loaded(): void {
    if (this.context.leases.server !== this.server) return this.end(LOAD_FAILED);
    this.isLoaded = true;
    this.settle();
    if (!this.isBelieved && !this.isAsking && !this.isBehind) void this.renew();
  }

  onEntries(entries: readonly FeedEntry[]): void {
    for (const entry of entries) {
      if (this.hasEnded) return;
      this.apply(entry);
    }
    this.settle();
    void this.acknowledge();
  }

  /** To be called a few times in the length of a lease. */
  tick(): void {
    const { clock, leaseMs } = this.context;
    if (this.isAsking || this.hasEnded) return;
    const sinceAsked = clock.now() - this.askedAt;
    if (this.isBehind) {
      // Adds wait for a reader that renews and does not acknowledge: it lets its lease end.
      if (sinceAsked > SILENT_LEASES * leaseMs) this.end(FEED_SILENT);
    } else if (sinceAsked >= this.pauseMs() - leaseMs * TIMER_SHARE) {
      void this.renew();
    }
  }

  /** Ends the lease, and resolves when it has been given back. */
  async close(): Promise<void> {
    this.end(COPY_ABSENT);
    await this.left;
  }

  end(reason: string): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.belief.end();
    this.stop();
    this.left = this.context.leases.leave();
    this.context.onEnded(this, reason);
  }

  private apply(entry: FeedEntry): void {
    const { list, number, tag, places, isMessage = false } = entry;
    if (list !== this.list) return this.end(OTHER_FEED);
    if (number <= this.applied) return;
    this.written = Math.max(this.written, number);
    if (number > this.applied + 1) {
      if (isMessage) return;
      return this.end(ENTRIES_LOST);
    }
    this.context.next.apply(entry);
    const isOfCopy = tag === this.copy.generation.tag || this.succeeds(entry);
    if (!isOfCopy) return this.end(ANOTHER_GENERATION);
    if (places && !this.copy.insert(places)) return this.end(ENTRIES_LOST);
    this.applied = number;
  }

  /** Goes on with the copy of the generation that went live, if there is one. */
  private succeeds(entry: FeedEntry): boolean {
    const successor = this.context.next.takeFor(entry);
    if (!successor) return false;
    const before = this.present;
    this.present = successor;
    this.context.onSucceeded(this, before);
    return true;
  }

  private async renew(): Promise<void> {
    const { leases, emit, name } = this.context;
    const { list, applied } = this;
    const asked = this.belief.moment();
    this.askedAt = asked.now;
    this.isAsking = true;
    try {
      const reply = await leases.take({ list, applied });
      this.failures = 0;
      if (!this.hasEnded) this.renewed(reply, asked);
    } catch (error) {
      this.failures++;
      emit({ type: 'store-error', filter: name, operation: 'renew the lease of the local copy', error });
    } finally {
      this.isAsking = false;
    }
  }

  private renewed(reply: LeaseReply, asked: Moment): void {
    if (reply.outcome === 'refused') return this.end(reply.reason);
    if (reply.outcome === 'not-live') return this.end(NOT_LIVE);
    const { list, number, tag, announced } = reply;
    const { next } = this.context;
    if (list !== this.list) return this.end(OTHER_FEED);
    const isKnown = tag === this.copy.generation.tag || tag === next.tag;
    // Its tags are older than the entries that have been applied meanwhile.
    const isOld = number < this.applied;
    if (!isKnown && !isOld) return this.end(ANOTHER_GENERATION);
    if (!isOld) next.follow(announced, tag, this.isLoaded);
    this.written = Math.max(this.written, number);
    this.grant = { asked, number };
    this.settle();
    void this.acknowledge();
  }

  /** Whether entries are missing before what was granted may count. */
  private get isBehind(): boolean {
    return this.grant !== undefined && this.applied < this.grant.number;
  }

  private settle(): void {
    const { grant } = this;
    if (!grant || !this.isLoaded || this.isBehind || this.hasEnded) return;
    this.grant = undefined;
    this.belief.begin(grant.asked);
    if (this.isBelieved) this.context.onBelieved();
  }

  private pauseMs(): number {
    const { leaseMs } = this.context;
    return Math.min((leaseMs / 4) * 2 ** this.failures, Math.max(leaseMs / 4, LONGEST_PAUSE_MS));
  }

  /** One acknowledgement is on its way at a time, for all entries until then. */
  private async acknowledge(): Promise<void> {
    if (this.isAcknowledging) return;
    const { leases, emit, name } = this.context;
    this.isAcknowledging = true;
    try {
      while (this.acknowledged < this.applied && !this.hasEnded) {
        const { list, applied } = this;
        await leases.acknowledge({ list, applied });
        this.acknowledged = applied;
      }
    } catch (error) {
      // The next renewal or entry leads here again.
      emit({ type: 'store-error', filter: name, operation: 'acknowledge entries of the feed', error });
    } finally {
      this.isAcknowledging = false;
    }
  }
}
