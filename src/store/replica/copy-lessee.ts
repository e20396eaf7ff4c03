import type { BloomEventListener, Clock } from '../../common/index.js';
import type { CopyLeases, BloomCopyLease, LeaseReply } from '../index.js';
import type { Moment } from './belief.js';
import { CopyLease } from './copy-lease.js';
import type { LocalCopy } from './local-copy.js';
import type { NextCopy } from './next-copy.js';
import {
  ANOTHER_GENERATION,
  COPY_ABSENT,
  LEASE_LAPSED,
  LOAD_FAILED,
  noLease,
  NOT_LIVE,
  STORE_SILENT,
} from './replica.messages.js';
import { causeOf } from './unleased-cause.js';

/** Looks at the lease so many times in its length. */
const TICKS_PER_LEASE = 4;
/** A lease that ended later than this was not lost for a reason that is still there. */
const STEADY_MS = 10_000;
const LONGEST_PAUSE_MS = 60_000;
/** While the store cannot be asked. */
const LONGEST_OUTAGE_PAUSE_MS = 5_000;
/** Before a store that refuses is asked again. */
const FIRST_REFUSED_PAUSE_MS = 5_000;

export interface CopyLesseeContext {
  readonly name: string;
  readonly emit: BloomEventListener;
  readonly clock: Clock;
  readonly leases: CopyLeases;
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

/** Gets leases for the copies of one filter, one after the other, and reports whether the present copy is leased. */
export class CopyLessee {
  private lease: CopyLease | undefined;
  private leasedAt: number | undefined;
  private pauseMs = 0;
  private retryAt = -Infinity;
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;
  private refusal: string | undefined;
  private reported: Omit<BloomCopyLease, 'behind' | 'cause'>;

  constructor(private readonly context: CopyLesseeContext) {
    const since = new Date(context.clock.wall());
    this.reported = { isLeased: false, reason: COPY_ABSENT, since };
  }

  get status(): BloomCopyLease {
    const { lease, reported } = this;
    const behind = lease?.behind ?? 0;
    const isLapsed = reported.isLeased && !lease?.isBelieved;
    const reason = isLapsed ? LEASE_LAPSED : reported.reason;
    return { ...reported, isLeased: reported.isLeased && !isLapsed, reason, cause: causeOf(reason), behind };
  }

  /** Asks for a lease of a copy whose blocks are read next. Never rejects. */
  async begin(copy: LocalCopy): Promise<LeaseOutcome> {
    const { clock, leases, leaseMs, emit, name } = this.context;
    if (this.isClosed) return 'none';
    this.timer ??= setInterval(() => this.tick(), leaseMs / TICKS_PER_LEASE).unref();
    const asked = { now: clock.now(), wall: clock.wall() };
    let reply: LeaseReply;
    try {
      reply = await leases.take(undefined);
    } catch (error) {
      emit({ type: 'store-error', filter: name, operation: 'ask for a lease of the local copy', error });
      this.wait(leaseMs, LONGEST_OUTAGE_PAUSE_MS, STORE_SILENT);
      return 'none';
    }
    if (this.isClosed) {
      void leases.leave();
      return 'none';
    }
    return this.begun(copy, reply, asked);
  }

  /** The blocks of the copy have been read since `begin` returned. */
  loaded(copy: LocalCopy): void {
    if (this.lease && copy.proof === this.lease) this.lease.loaded();
  }

  /** The blocks could not be read. */
  notLoaded(): void {
    this.lease?.end(LOAD_FAILED);
  }

  /** The copy is no longer there. */
  drop(): void {
    this.lease?.end(COPY_ABSENT);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.timer);
    await this.lease?.close();
    await this.context.leases.leave();
  }

  private begun(copy: LocalCopy, reply: LeaseReply, asked: Moment): LeaseOutcome {
    const { emit, name, leases, leaseMs } = this.context;
    if (reply.outcome === 'refused') {
      if (reply.reason !== this.refusal) emit({ type: 'advice', filter: name, text: noLease(reply.reason) });
      this.refusal = reply.reason;
      this.wait(FIRST_REFUSED_PAUSE_MS, LONGEST_PAUSE_MS, reply.reason);
      return 'none';
    }
    this.refusal = undefined;
    const isOther = reply.outcome === 'granted' && reply.tag !== copy.generation.tag;
    if (reply.outcome !== 'granted' || isOther) {
      if (isOther) void leases.leave();
      this.wait(leaseMs / TICKS_PER_LEASE, LONGEST_OUTAGE_PAUSE_MS, isOther ? ANOTHER_GENERATION : NOT_LIVE);
      return 'ended';
    }
    this.lease = new CopyLease(copy, reply, asked, {
      ...this.context,
      onBelieved: () => this.believed(),
      onSucceeded: (lease, before) => this.succeeded(lease, before),
      onEnded: (lease, reason) => this.ended(lease, reason),
    });
    copy.proof = this.lease;
    return 'granted';
  }

  private succeeded(lease: CopyLease, before: LocalCopy): void {
    before.proof = undefined;
    lease.copy.proof = lease;
    this.context.onSucceeded(lease.copy);
  }

  private ended(lease: CopyLease, reason: string): void {
    if (lease.copy.proof === lease) lease.copy.proof = undefined;
    if (this.lease !== lease) return;
    this.context.next.drop();
    this.lease = undefined;
    const { clock, leaseMs } = this.context;
    const isSteady = this.leasedAt !== undefined && clock.now() - this.leasedAt > STEADY_MS;
    this.leasedAt = undefined;
    const isOfGeneration = reason === ANOTHER_GENERATION || reason === NOT_LIVE;
    if (isSteady || isOfGeneration) this.pauseMs = 0;
    this.wait(leaseMs / TICKS_PER_LEASE, LONGEST_PAUSE_MS, reason);
    if (isOfGeneration) this.context.onGenerationEnded();
  }

  private tick(): void {
    if (!this.lease?.isBelieved) this.report(LEASE_LAPSED);
    if (this.lease) this.lease.tick();
    else if (this.context.clock.now() >= this.retryAt) this.context.onReloadDue();
  }

  private believed(): void {
    if (this.reported.isLeased) return;
    const { emit, name, clock } = this.context;
    this.leasedAt ??= clock.now();
    this.reported = { isLeased: true, reason: undefined, since: new Date(clock.wall()) };
    emit({ type: 'copy-leased', filter: name });
  }

  /** Reports that the copy is not leased, unless that has been reported. */
  private report(reason: string): void {
    if (!this.reported.isLeased) return;
    const { emit, name, clock } = this.context;
    this.reported = { isLeased: false, reason, since: new Date(clock.wall()) };
    emit({ type: 'copy-unleased', filter: name, reason });
  }

  private wait(firstMs: number, longestMs: number, reason: string): void {
    this.pauseMs = Math.min(Math.max(firstMs, 2 * this.pauseMs), longestMs);
    this.retryAt = this.context.clock.now() + this.pauseMs;
    this.report(reason);
    this.reported = { ...this.reported, reason };
  }
}
