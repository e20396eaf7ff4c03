import type { BloomEventListener, Clock } from '../../common/index.js';
import type { BloomCopyLease } from '../index.js';
import { COPY_ABSENT, LEASE_LAPSED, type Unleased } from './local-copy.messages.js';

export interface LeaseReportContext {
  readonly name: string;
  readonly emit: BloomEventListener;
  readonly clock: Pick<Clock, 'wall'>;
}

/** Whether the copy of a filter is leased, as its users hear of it. */
export class LeaseReport {
  private state: Omit<BloomCopyLease, 'behind'>;

  constructor(
    private readonly context: LeaseReportContext,
    why: Unleased = COPY_ABSENT,
  ) {
    this.state = { isLeased: false, ...why, since: this.now() };
  }

  status(isProven: boolean, behind: number): BloomCopyLease {
    const isLapsed = this.state.isLeased && !isProven;
    return { ...this.state, ...(isLapsed && { isLeased: false, ...LEASE_LAPSED }), behind };
  }

  leased(): void {
    if (this.state.isLeased) return;
    const { emit, name } = this.context;
    this.state = { isLeased: true, reason: undefined, cause: undefined, since: this.now() };
    emit({ type: 'copy-leased', filter: name });
  }

  /** The lease was not renewed in time, and may be yet. */
  lapsed(): void {
    if (this.state.isLeased) this.unleased(LEASE_LAPSED);
  }

  /** The first reason is reported; `status` has the last one. */
  unleased(why: Unleased): void {
    const { isLeased, since } = this.state;
    const { emit, name } = this.context;
    this.state = { isLeased: false, ...why, since: isLeased ? this.now() : since };
    if (isLeased) emit({ type: 'copy-unleased', filter: name, reason: why.reason });
  }

  private now(): Date {
    return new Date(this.context.clock.wall());
  }
}
