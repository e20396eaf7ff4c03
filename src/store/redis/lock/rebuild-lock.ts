import { randomBytes } from 'node:crypto';
import { BloomUnavailableError } from '../../../common/index.js';
import type { BuildOutcome, LeaseRequest } from '../../index.js';
import type { RedisConnection, SentScript } from '../client/redis-connection.js';
import { type LockKeys, LockScripts } from './lock-scripts.js';
import { LEASE_EXPIRED_UNSEEN } from '../swap/swap.messages.js';

/** So many tokens that this process gave up last are shown to the server when it asks for the lease. */
const TOKENS_KEPT = 8;
/** Pauses between attempts to give a lease back double from the first to the last. */
const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 1000;

export interface LockContext {
  readonly keys: LockKeys;
  readonly connection: RedisConnection;
}

export interface HeldLease {
  /** Random, and only of this lease. */
  readonly token: string;
  /** The stored lease, which every step of a build shows: the token and the server that gave it. */
  readonly lease: string;
  readonly leaseMs: number;
  /** Whether facts about the build are noted. */
  readonly isNoted: boolean;
}

/**
 * The lock of one filter's rebuilds: takes its lease and gives it back. A command may run on the server long
 * after its caller has given it up: so the lease is short until its holder has got the reply, and this
 * process clears those that it does not hold.
 */
export class RebuildLock {
  private givenUp: readonly string[] = [];
  private isClosed = false;

  private readonly scripts: LockScripts;

  constructor(private readonly filter: LockContext) {
    this.scripts = new LockScripts(filter.connection);
  }

  /**
   * Undefined while another process holds the lease, or when no build is due.
   *
   * @throws {BloomUnavailableError} when the server cannot be asked, or answers too late.
   */
  async take({ leaseMs, occasion, onNotDue }: LeaseRequest): Promise<HeldLease | undefined> {
    const { scripts } = this;
    const { keys, connection } = this.filter;
    const token = randomBytes(8).toString('hex');
    const lifeMs = Math.min(leaseMs, 2 * connection.writeTimeoutMs);
    const isNoted = occasion !== undefined;
    const { givenUp } = this;
    const { reply, settled } = scripts.acquire(keys, { token, lifeMs, leaseMs, occasion, givenUp });
    try {
      const answer = await reply;
      if (answer.outcome === 'not due') onNotDue?.(answer.dueInMs);
      if (answer.outcome !== 'taken') return undefined;
      const { lease } = answer;
      if (lifeMs < leaseMs && !(await scripts.renew(keys, { lease, leaseMs }))) {
        throw new BloomUnavailableError(LEASE_EXPIRED_UNSEEN);
      }
      return { token, lease, leaseMs, isNoted };
    } catch (error) {
      void this.clear({ token, leaseMs, isNoted }, undefined, settled);
      throw error;
    }
  }

  /** False: the lease is not the caller's any more. */
  renew(
    { lease, leaseMs }: HeldLease,
    staging: { readonly stagingKeys: readonly string[]; readonly stagingLifeMs: number },
  ): Promise<boolean> {
    return this.scripts.renew(this.filter.keys, { lease, leaseMs, ...staging });
  }

  /** When it rejects, attempts go on until the server has answered, or the lease has run out. */
  async giveBack(held: HeldLease, outcome?: BuildOutcome): Promise<void> {
    const { reply, settled } = this.release(held, outcome);
    try {
      await reply;
    } catch (error) {
      void this.clear(held, outcome, settled);
      throw error;
    }
  }

  /** Ends the attempts to give leases back. */
  close(): void {
    this.isClosed = true;
  }

  /**
   * @param settled when nothing that was sent before can be carried out any more on a connection of this
   * process; a release that runs before an acquisition clears nothing.
   */
  private async clear(
    held: Omit<HeldLease, 'lease'>,
    outcome: BuildOutcome | undefined,
    settled: Promise<void>,
  ): Promise<void> {
    this.givenUp = [...this.givenUp, held.token].slice(-TOKENS_KEPT);
    await settled;
    const until = performance.now() + held.leaseMs;
    for (let pauseMs = FIRST_PAUSE_MS; !this.isClosed && performance.now() < until;) {
      const release = this.release(held, outcome);
      try {
        await release.reply;
        return;
      } catch {
        // The failure that led here has been reported.
        await release.settled;
      }
      await pause(pauseMs);
      pauseMs = Math.min(2 * pauseMs, LAST_PAUSE_MS);
    }
  }

  private release(
    { token, isNoted }: Pick<HeldLease, 'token' | 'isNoted'>,
    outcome: BuildOutcome | undefined,
  ): SentScript<void> {
    return this.scripts.release(this.filter.keys, token, isNoted ? { outcome } : undefined);
  }
}

/** Does not keep a process that ends. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref?.();
  });
}
