import type { Clock } from '../../common/index.js';
import type { BloomCopyLease, FeedEntry, LeaseReply, LeaseServer } from '../index.js';
import { LeaseReport, type LeaseReportContext } from './lease-report.js';
import { type LocalCopy, type Moment, Proof } from './local-copy.js';
import * as because from './local-copy.messages.js';
import type { NextCopy } from './next-copy.js';

/** Looks at the lease so many times in its length. */
const TICKS_PER_LEASE = 4;
/** Share of a lease by which timers are early at most. */
const EARLY_SHARE = 1 / 16;
/** A reader that waits for entries longer than so many leases follows no feed any more. */
const SILENT_LEASES = 10;
/** A lease that ended later than this was not lost for a reason that is still there. */
const STEADY_MS = 10_000;
/** Longest pause between two attempts to renew while the store cannot be asked. */
const LONGEST_RENEWAL_PAUSE_MS = 2_000;
/** Longest pauses before another lease is asked for, the second while the store cannot be asked. */
const LONGEST_PAUSE_MS = 60_000;
const LONGEST_OUTAGE_PAUSE_MS = 5_000;
const FIRST_REFUSED_PAUSE_MS = 5_000;

export interface LeaseContext extends LeaseReportContext {
  readonly clock: Clock;
  readonly leases: LeaseServer;
  readonly leaseMs: number;
  readonly next: NextCopy;
  /** Called when another copy is leased in the place of this one, since its generation went live. */
  readonly onSucceeded: (successor: LocalCopy) => void;
  /** Called when the blocks of the copy have to be read again for a lease to count. */
  readonly onReloadDue: () => void;
  /** Called when the generation of the copy is no longer live. */
  readonly onGenerationEnded: () => void;
}

/** What became of a question for a lease. `ended`: the generation of the copy is not the live one. */
export type LeaseOutcome = 'granted' | 'none' | 'ended';

type Granted = Extract<LeaseReply, { outcome: 'granted' }>;

/** One lease, from when it was granted to its end. */
class Held {
  readonly list: string;
  applied: number;
  /** The last entry that is known to have been written. */
  written: number;
  acknowledged: number;
  isAcknowledging = false;
  isLoaded = false;
  leasedAt: number | undefined;
  /** What was granted and does not count yet. */
  grant: { readonly asked: Moment; readonly number: number } | undefined;
  askedAt: number;
  isAsking = false;
  failures = 0;
  stopFollowing = () => {};

  /** @param grantedBy the server. */
  constructor(
    public copy: LocalCopy,
    readonly proof: Proof,
    { list, number }: Granted,
    asked: Moment,
    readonly grantedBy: string,
  ) {
    this.list = list;
    this.applied = this.written = this.acknowledged = number;
    this.grant = { asked, number };
    this.askedAt = asked.now;
  }

  /** Whether entries are missing before what was granted may count. */
  get isBehind(): boolean {
    return this.grant !== undefined && this.applied < this.grant.number;
  }
}

/**
 * Leases of the copies of one filter, one after the other. Applies the entries of the feed to the leased
 * copy, acknowledges them, and renews the lease. A copy that may lack something has no lease any more; it is
 * loaded again under another one.
 */
export class Lease {
  private held: Held | undefined;
  private left: Promise<void> | undefined;
  private pauseMs = 0;
  private retryAt = -Infinity;
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;
  private refusal: string | undefined;
  private readonly report: LeaseReport;

  constructor(private readonly context: LeaseContext) {
    this.report = new LeaseReport(context);
  }

  get status(): BloomCopyLease {
    const { held, report } = this;
    return held ? report.status(held.proof.holds, held.written - held.applied) : report.status(false, 0);
  }

  /** Asks for a lease of a copy whose blocks are read next. Never rejects. */
  async begin(copy: LocalCopy): Promise<LeaseOutcome> {
    const { clock, leases, leaseMs, emit, name } = this.context;
    if (this.isClosed) return 'none';
    this.timer ??= setInterval(() => this.tick(), leaseMs / TICKS_PER_LEASE).unref();
    const proof = new Proof(clock, leaseMs);
    const asked = proof.moment();
    let reply: LeaseReply;
    try {
      reply = await leases.take(undefined);
    } catch (error) {
      emit({ type: 'store-error', filter: name, operation: 'ask for a lease of the local copy', error });
      this.wait(leaseMs, LONGEST_OUTAGE_PAUSE_MS, because.STORE_SILENT);
      return 'none';
    }
    if (this.isClosed) {
      void leases.leave();
      return 'none';
    }
    if (reply.outcome === 'refused') {
      const { reason } = reply;
      if (reason !== this.refusal) emit({ type: 'advice', filter: name, text: because.noLease(reason) });
      this.refusal = reason;
      this.wait(FIRST_REFUSED_PAUSE_MS, LONGEST_PAUSE_MS, { cause: 'refused', reason });
      return 'none';
    }
    this.refusal = undefined;
    const isOther = reply.outcome === 'granted' && reply.tag !== copy.generation.tag;
    if (reply.outcome !== 'granted' || isOther) {
      if (isOther) void leases.leave();
      this.wait(
        leaseMs / TICKS_PER_LEASE,
        LONGEST_OUTAGE_PAUSE_MS,
        isOther ? because.ANOTHER_GENERATION : because.NOT_LIVE,
      );
      return 'ended';
    }
    const held = new Held(copy, proof, reply, asked, leases.server);
    held.stopFollowing = leases.follow(reply.number, { onEntries: (read) => this.onEntries(held, read) });
    this.held = held;
    copy.proof = proof;
    return 'granted';
  }

  /** The blocks of the copy have been read since `begin` returned. */
  loaded(copy: LocalCopy): void {
    const { held } = this;
    if (held?.copy !== copy) return;
    if (this.context.leases.server !== held.grantedBy) return this.end(because.LOAD_FAILED);
    held.isLoaded = true;
    this.settle(held);
    if (!held.proof.holds && !held.isAsking && !held.isBehind) void this.renew(held);
  }

  /** Resolves when the lease has been given back. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.timer);
    this.end(because.COPY_ABSENT);
    await this.left;
    await this.context.leases.leave();
  }

  end(why: because.Unleased): void {
    const { held } = this;
    if (!held) return;
    const { clock, leaseMs, leases, next, onGenerationEnded } = this.context;
    this.held = undefined;
    held.proof.end();
    held.copy.proof = undefined;
    held.stopFollowing();
    this.left = leases.leave();
    next.drop();
    const isSteady = held.leasedAt !== undefined && clock.now() - held.leasedAt > STEADY_MS;
    const isOfGeneration = why === because.ANOTHER_GENERATION || why === because.NOT_LIVE;
    if (isSteady || isOfGeneration) this.pauseMs = 0;
    this.wait(leaseMs / TICKS_PER_LEASE, LONGEST_PAUSE_MS, why);
    if (isOfGeneration) onGenerationEnded();
  }

  private onEntries(held: Held, entries: readonly FeedEntry[]): void {
    for (const entry of entries) {
      if (this.held !== held) return;
      this.apply(held, entry);
    }
    this.settle(held);
    void this.acknowledge(held);
  }

  private apply(held: Held, entry: FeedEntry): void {
    const { list, number, tag, places, isMessage = false } = entry;
    if (list !== held.list) return this.end(because.OTHER_FEED);
    if (number <= held.applied) return;
    held.written = Math.max(held.written, number);
    if (number > held.applied + 1) {
      if (isMessage) return;
      return this.end(because.ENTRIES_LOST);
    }
    this.context.next.apply(entry);
    const isOfCopy = tag === held.copy.generation.tag || this.succeeds(held, entry);
    if (!isOfCopy) return this.end(because.ANOTHER_GENERATION);
    if (places && !held.copy.insert(places)) return this.end(because.ENTRIES_LOST);
    held.applied = number;
  }

  /** Goes on with the copy of the generation that went live, if there is one. */
  private succeeds(held: Held, entry: FeedEntry): boolean {
    const { next, onSucceeded } = this.context;
    const successor = next.takeFor(entry);
    if (!successor) return false;
    held.copy.proof = undefined;
    held.copy = successor;
    successor.proof = held.proof;
    onSucceeded(successor);
    return true;
  }

  private tick(): void {
    const { held } = this;
    const { clock, leaseMs, onReloadDue } = this.context;
    if (!held?.proof.holds) this.report.lapsed();
    if (!held) {
      if (clock.now() >= this.retryAt) onReloadDue();
    } else if (!held.isAsking) {
      const sinceAsked = clock.now() - held.askedAt;
      // Adds wait for a reader that renews and does not acknowledge: it lets its lease end.
      if (!held.isBehind && sinceAsked >= renewalPauseMs(leaseMs, held.failures)) void this.renew(held);
      else if (held.isBehind && sinceAsked > SILENT_LEASES * leaseMs) this.end(because.FEED_SILENT);
    }
  }

  private async renew(held: Held): Promise<void> {
    const { leases, emit, name } = this.context;
    const { list, applied } = held;
    const asked = held.proof.moment();
    held.askedAt = asked.now;
    held.isAsking = true;
    try {
      const reply = await leases.take({ list, applied });
      held.failures = 0;
      if (this.held === held) this.renewed(held, reply, asked);
    } catch (error) {
      held.failures++;
      emit({ type: 'store-error', filter: name, operation: 'renew the lease of the local copy', error });
    } finally {
      held.isAsking = false;
    }
  }

  private renewed(held: Held, reply: LeaseReply, asked: Moment): void {
    if (reply.outcome === 'refused') return this.end({ cause: 'refused', reason: reply.reason });
    if (reply.outcome === 'not-live') return this.end(because.NOT_LIVE);
    const { list, number, tag, announced } = reply;
    const { next } = this.context;
    if (list !== held.list) return this.end(because.OTHER_FEED);
    const isKnown = tag === held.copy.generation.tag || tag === next.tag;
    // Its tags are older than the entries that have been applied meanwhile.
    const isOld = number < held.applied;
    if (!isKnown && !isOld) return this.end(because.ANOTHER_GENERATION);
    if (!isOld) next.follow(announced, tag, held.isLoaded);
    held.written = Math.max(held.written, number);
    held.grant = { asked, number };
    this.settle(held);
    void this.acknowledge(held);
  }

  /** Has what was granted count once the copy has been read and all entries until then have been applied. */
  private settle(held: Held): void {
    const { grant, proof } = held;
    if (!grant || !held.isLoaded || held.isBehind || this.held !== held) return;
    held.grant = undefined;
    proof.begin(grant.asked);
    if (!proof.holds) return;
    held.leasedAt ??= this.context.clock.now();
    this.report.leased();
  }

  /** One acknowledgement is on its way at a time, for all entries until then. */
  private async acknowledge(held: Held): Promise<void> {
    if (held.isAcknowledging) return;
    const { leases, emit, name } = this.context;
    held.isAcknowledging = true;
    try {
      while (held.acknowledged < held.applied && this.held === held) {
        const { list, applied } = held;
        await leases.acknowledge({ list, applied });
        held.acknowledged = applied;
      }
    } catch (error) {
      // The next renewal or entry leads here again.
      emit({ type: 'store-error', filter: name, operation: 'acknowledge entries of the feed', error });
    } finally {
      held.isAcknowledging = false;
    }
  }

  /** Sets the pause before another lease is asked for: twice the last one. */
  private wait(firstMs: number, longestMs: number, why: because.Unleased): void {
    this.pauseMs = Math.min(Math.max(firstMs, 2 * this.pauseMs), longestMs);
    this.retryAt = this.context.clock.now() + this.pauseMs;
    this.report.unleased(why);
  }
}

function renewalPauseMs(leaseMs: number, failures: number): number {
  const firstMs = leaseMs / 4;
  return (
    Math.min(firstMs * 2 ** failures, Math.max(firstMs, LONGEST_RENEWAL_PAUSE_MS)) - leaseMs * EARLY_SHARE
  );
}
