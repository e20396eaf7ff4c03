import { randomBytes } from 'node:crypto';
import { BloomUnavailableError, jittered, pause } from '../../../common/index.js';
import {
  type BuildOutcome,
  FIRST_BUILD_PAUSE_MS,
  LAST_BUILD_PAUSE_MS,
  type LeaseRequest,
} from '../../index.js';
import type { RedisConnection, SentScript } from '../client/redis-connection.js';
import { defineScripts, type Script } from '../client/script.js';
import { unexpectedReplyError } from '../client/server-replies.js';
import { coreLua } from '../lua/core.generated.js';
import type { RedisKeys } from '../meta/redis-keys.js';
import { wordIn } from '../swap/rebuild-step.js';
import { LEASE_EXPIRED_UNSEEN } from '../swap/swap.messages.js';

/** So many tokens that this process gave up last are shown to the server when it asks for the lease. */
const TOKENS_KEPT = 8;
/** Pauses between attempts to give a lease back double from the first to the last. */
const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 1000;

const SCRIPTS = defineScripts(coreLua, ['acquire', 'renew', 'release']);

export interface LockContext {
  readonly keys: Pick<RedisKeys, 'lease' | 'builds'>;
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

  constructor(private readonly filter: LockContext) {}

  /**
   * Undefined while another process holds the lease, or when no build is due.
   *
   * @throws {BloomUnavailableError} when the server cannot be asked, or answers too late.
   */
  async take({ leaseMs, occasion, onNotDue }: LeaseRequest): Promise<HeldLease | undefined> {
    const { keys, connection } = this.filter;
    const token = randomBytes(8).toString('hex');
    const lifeMs = Math.min(leaseMs, 2 * connection.writeTimeoutMs);
    const isNoted = occasion !== undefined;
    const withinMs = occasion && 'withinMs' in occasion ? occasion.withinMs : 0;
    const failedMs = (occasion?.kind === 'scheduled' ? occasion.failedMs : undefined) ?? '';
    const pauses = [FIRST_BUILD_PAUSE_MS, LAST_BUILD_PAUSE_MS];
    const { reply, settled } = connection.send(
      SCRIPTS.acquire,
      isNoted ? [keys.lease, keys.builds] : [keys.lease],
      [token, lifeMs, occasion?.kind ?? '', withinMs, ...pauses, leaseMs, failedMs, ...this.givenUp],
      acquireReply,
    );
    try {
      const answer = await reply;
      if (answer.outcome === 'not due') onNotDue?.(answer.dueInMs);
      if (answer.outcome !== 'taken') return undefined;
      const held = { token, lease: answer.lease, leaseMs, isNoted };
      if (lifeMs < leaseMs && !(await this.renew(held))) {
        throw new BloomUnavailableError(LEASE_EXPIRED_UNSEEN);
      }
      return held;
    } catch (error) {
      void this.clear({ token, leaseMs, isNoted }, undefined, settled);
      throw error;
    }
  }

  /** False: the lease is not the caller's any more. */
  async renew(
    { lease, leaseMs }: HeldLease,
    { keys, lifeMs }: { readonly keys: readonly string[]; readonly lifeMs: number } = { keys: [], lifeMs: 0 },
  ): Promise<boolean> {
    const args = [lease, leaseMs, lifeMs];
    const reply = await this.filter.connection.run(SCRIPTS.renew, [this.filter.keys.lease, ...keys], args);
    return wordIn(['OK', 'LEASE'], SCRIPTS.renew, reply) === 'OK';
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
    const { keys, connection } = this.filter;
    const kind = (isNoted && outcome?.kind) || '';
    const retryAfterMs = (isNoted && outcome?.kind === 'failed' && outcome.retryAfterMs) || 0;
    return connection.send(
      SCRIPTS.release,
      isNoted ? [keys.lease, keys.builds] : [keys.lease],
      [token, kind, FIRST_BUILD_PAUSE_MS, LAST_BUILD_PAUSE_MS, jittered(1), retryAfterMs],
      () => {},
    );
  }
}

type AcquireReply =
  | { readonly outcome: 'taken'; readonly lease: string }
  | { readonly outcome: 'held' }
  | { readonly outcome: 'not due'; readonly dueInMs: number };

function acquireReply(reply: unknown, script: Script): AcquireReply {
  const [outcome, word] = Array.isArray(reply) ? reply.map(String) : [];
  if (outcome === 'HELD') return { outcome: 'held' };
  if (outcome === 'TAKEN' && word !== undefined) return { outcome: 'taken', lease: word };
  if (outcome === 'NOTDUE' && Number(word) > 0) return { outcome: 'not due', dueInMs: Number(word) };
  throw unexpectedReplyError(script.name, String(reply));
}
