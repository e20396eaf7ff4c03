import { type BloomEventListener, BloomRebuildError } from '../../../common/index.js';
import type { BuildOutcome, LeaseRequest, RebuildLease, StagePlan, Staging } from '../../index.js';
import type { HeldLease, LockContext, RebuildLock } from './rebuild-lock.js';
import { LEASE_NOT_RENEWED, LEASE_TAKEN } from '../swap/swap.messages.js';
import type { AnyStaging, StagingContext } from '../staging/staging-base.js';
import { explainNoMemory, StagingMemory } from '../staging/staging-memory.js';
import { StagingWithCleanUp } from '../staging/staging-with-clean-up.js';

/** Staging outlives the lease, so that it never expires under a run that still holds it. */
const STAGING_LIFE_IN_LEASES = 4;

/** What the lease of a filter needs of it. */
export interface LeasedFilter extends LockContext {
  readonly name: string;
  readonly emit: BloomEventListener;
  readonly lock: RebuildLock;
}

/** Makes a staging that is not open yet. */
export type StagingFactory = (context: StagingContext) => AnyStaging;

/** Takes the lease of a filter; undefined while another process holds it, or when no build is due. */
export async function acquireLease(
  filter: LeasedFilter,
  makeStaging: StagingFactory,
  request: LeaseRequest,
): Promise<RebuildLease | undefined> {
  const held = await explainNoMemory(filter.lock.take(request));
  return held && new RedisLease(filter, makeStaging, held);
}

class RedisLease implements RebuildLease {
  readonly signal: AbortSignal;

  private readonly lost = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private renewedAt = performance.now();
  private renewing = false;
  private staging: StagingWithCleanUp | undefined;
  private stagings = 0;

  constructor(
    private readonly filter: LeasedFilter,
    private readonly makeStaging: StagingFactory,
    private readonly held: HeldLease,
  ) {
    this.signal = this.lost.signal;
    this.timer = setInterval(() => void this.renew(), held.leaseMs / 3);
    this.timer.unref();
  }

  async stage(plan: StagePlan): Promise<Staging> {
    const { filter } = this;
    const { token, lease, leaseMs } = this.held;
    // Its memory first: it lacks ids, or nobody would stage again.
    await this.staging?.abort();
    const memory = new StagingMemory({ ...filter, onShort: (error) => this.end(error) });
    const staging = this.makeStaging({
      plan,
      lease,
      token: `${token}-${++this.stagings}`,
      lifeMs: leaseMs * STAGING_LIFE_IN_LEASES,
      signal: this.signal,
      claim: (bytes) => memory.claim(bytes),
    });
    const onCleanUpFailed = (error: unknown) =>
      filter.emit({ type: 'clean-up-failed', filter: filter.name, error });
    const withCleanUp = new StagingWithCleanUp(
      staging,
      memory,
      filter.connection.writeTimeoutMs,
      onCleanUpFailed,
    );
    this.staging = withCleanUp;
    await withCleanUp.open();
    return withCleanUp;
  }

  async release(outcome?: BuildOutcome): Promise<void> {
    clearInterval(this.timer);
    await this.filter.lock.giveBack(this.held, outcome);
  }

  private async renew(): Promise<void> {
    if (this.renewing || this.signal.aborted) return;
    this.renewing = true;
    const startedAt = performance.now();
    const { leaseMs } = this.held;
    try {
      const isRenewed = await this.filter.lock.renew(this.held, {
        keys: this.staging?.ownKeys() ?? [],
        lifeMs: leaseMs * STAGING_LIFE_IN_LEASES,
      });
      if (isRenewed) this.renewedAt = startedAt;
      else this.lose(LEASE_TAKEN);
    } catch (error) {
      // The next renewal may come through; the lease lives on the server until its time is up.
      this.filter.emit({
        type: 'store-error',
        filter: this.filter.name,
        operation: 'renew the lease',
        error,
      });
      if (performance.now() - this.renewedAt > leaseMs) this.lose(LEASE_NOT_RENEWED);
    } finally {
      this.renewing = false;
    }
  }

  private lose(reason: string): void {
    clearInterval(this.timer);
    this.end(new BloomRebuildError('lease-lost', reason));
  }

  /** Ends the run. */
  private end(error: BloomRebuildError): void {
    this.lost.abort(error);
  }
}
