import { randomBytes } from 'node:crypto';
import { type BloomEventListener, BloomRebuildError } from '../../common/index.js';
import type { RebuildLease, StagePlan, Staging } from '../index.js';
import type { LeasedStaging, StagingTicket } from './leased-staging.js';
import type { RedisConnection } from './redis-connection.js';
import type { RedisKeys } from './redis-keys.js';
import type { RedisScripts } from './redis-scripts.js';

/** Staging outlives the lease, so that it never expires under a run that still holds it. */
const STAGED_LIFE_IN_LEASES = 4;

/** What the lease of a filter needs of it. */
export interface LeasedFilter {
  readonly name: string;
  readonly emit: BloomEventListener;
  readonly keys: Pick<RedisKeys, 'lease'>;
  readonly connection: RedisConnection;
  readonly scripts: RedisScripts;
}

/** Makes a staging that is not open yet. */
export type StagingFactory = (ticket: StagingTicket) => LeasedStaging;

/** Takes the lease of a filter; undefined while another process holds it. */
export async function acquireLease(
  parts: LeasedFilter,
  makeStaging: StagingFactory,
  leaseMs: number,
): Promise<RebuildLease | undefined> {
  const token = randomBytes(8).toString('hex');
  const taken = await parts.connection.setIfAbsent(parts.keys.lease, token, leaseMs);
  return taken ? new RedisLease(parts, makeStaging, token, leaseMs) : undefined;
}

class RedisLease implements RebuildLease {
  readonly signal: AbortSignal;

  private readonly lost = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private renewedAt = performance.now();
  private renewing = false;
  private staging: LeasedStaging | undefined;
  private stagings = 0;

  constructor(
    private readonly parts: LeasedFilter,
    private readonly makeStaging: StagingFactory,
    private readonly token: string,
    private readonly leaseMs: number,
  ) {
    this.signal = this.lost.signal;
    this.timer = setInterval(() => void this.renew(), leaseMs / 3);
    this.timer.unref();
  }

  async stage(plan: StagePlan): Promise<Staging> {
    const earlier = this.staging;
    const staging = this.makeStaging({
      plan,
      lease: this.token,
      token: `${this.token}-${++this.stagings}`,
      lifeMs: this.leaseMs * STAGED_LIFE_IN_LEASES,
      signal: this.signal,
    });
    this.staging = staging;
    await staging.open();
    await earlier?.abort();
    return staging;
  }

  async release(): Promise<void> {
    clearInterval(this.timer);
    await this.parts.scripts.release(this.parts.keys, this.token);
  }

  private async renew(): Promise<void> {
    if (this.renewing || this.signal.aborted) return;
    this.renewing = true;
    const startedAt = performance.now();
    try {
      const reply = await this.parts.scripts.renew(this.parts.keys, {
        lease: this.token,
        leaseMs: this.leaseMs,
        staged: this.staging?.keysToRenew() ?? [],
        stagedLifeMs: this.leaseMs * STAGED_LIFE_IN_LEASES,
      });
      if (reply === 'OK') this.renewedAt = startedAt;
      else this.lose('Another process holds the lease now.');
    } catch (error) {
      // The next renewal may come through; the lease lives on the server until its time is up.
      this.parts.emit({ type: 'store-error', filter: this.parts.name, operation: 'renew lease', error });
      if (performance.now() - this.renewedAt > this.leaseMs)
        this.lose('The lease could not be renewed in time.');
    } finally {
      this.renewing = false;
    }
  }

  private lose(reason: string): void {
    clearInterval(this.timer);
    this.lost.abort(new BloomRebuildError('lease-lost', reason));
  }
}
