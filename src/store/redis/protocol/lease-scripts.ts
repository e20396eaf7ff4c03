import { jittered } from '../../../common/index.js';
import {
  type BuildOccasion,
  type BuildOutcome,
  type DistrustPauses,
  FIRST_BUILD_PAUSE_MS,
  LAST_BUILD_PAUSE_MS,
} from '../../index.js';
import type { RedisConnection, SentScript } from '../client/redis-connection.js';
import { defineScripts, type Script } from '../client/script.js';
import { unexpectedReplyError } from '../client/unexpected-reply.js';
import { coreLua } from '../lua/core.generated.js';
import type { RedisKeys } from './redis-keys.js';

/** Pauses of rebuilds by processes that spell ids in different ways, after the first one. */
const FIRST_CONTEST_PAUSE_MS = 60_000;
const LAST_CONTEST_PAUSE_MS = 900_000;

export type LeaseKeys = Pick<RedisKeys, 'lease' | 'builds'>;

export type AcquireReply =
  | { readonly outcome: 'taken'; readonly lease: string }
  | { readonly outcome: 'held' }
  | { readonly outcome: 'not due'; readonly dueInMs: number };

/** The scripts that take, prolong and give back a lease. */
export class LeaseScripts {
  private readonly scripts = defineScripts(coreLua, ['acquire', 'contest', 'distrust', 'renew', 'release']);

  constructor(private readonly connection: RedisConnection) {}

  acquire(
    keys: LeaseKeys,
    options: {
      token: string;
      lifeMs: number;
      leaseMs: number;
      occasion: BuildOccasion | undefined;
      givenUp: readonly string[];
    },
  ): SentScript<AcquireReply> {
    const { token, lifeMs, leaseMs, occasion, givenUp } = options;
    const withinMs = occasion && 'withinMs' in occasion ? occasion.withinMs : 0;
    const failedMs = occasion?.kind === 'scheduled' ? occasion.failedMs : undefined;
    return this.connection.send(
      this.scripts.acquire,
      occasion ? [keys.lease, keys.builds] : [keys.lease],
      [
        token,
        lifeMs,
        occasion?.kind ?? '',
        withinMs,
        FIRST_BUILD_PAUSE_MS,
        LAST_BUILD_PAUSE_MS,
        leaseMs,
        failedMs ?? '',
        ...givenUp,
      ],
      acquireReply,
    );
  }

  /** False: the lease is not the caller's any more. */
  async renew(
    keys: LeaseKeys,
    options: { lease: string; leaseMs: number; stagingKeys?: readonly string[]; stagingLifeMs?: number },
  ): Promise<boolean> {
    const { lease, leaseMs, stagingKeys = [], stagingLifeMs = 0 } = options;
    const reply = await this.connection.run(
      this.scripts.renew,
      [keys.lease, ...stagingKeys],
      [lease, leaseMs, stagingLifeMs],
    );
    switch (String(reply)) {
      case 'OK':
        return true;
      case 'LEASE':
        return false;
      default:
        throw unexpectedReplyError(this.scripts.renew.name, String(reply));
    }
  }

  /** False: less than the pause has passed since a process distrusted the filter. */
  async mayDistrust({ builds }: LeaseKeys, { firstMs, lastMs }: DistrustPauses): Promise<boolean> {
    return Number(await this.connection.run(this.scripts.distrust, [builds], [firstMs, lastMs])) === 1;
  }

  /**
   * Notes that this build is live, and that this process cannot use it: further builds for this reason wait.
   */
  async contest({ builds }: Pick<LeaseKeys, 'builds'>, build: string): Promise<void> {
    const args = [build, FIRST_CONTEST_PAUSE_MS, LAST_CONTEST_PAUSE_MS];
    await this.connection.run(this.scripts.contest, [builds], args);
  }

  /** @param build undefined when nothing was noted of a build */
  release(
    keys: LeaseKeys,
    token: string,
    build: { readonly outcome: BuildOutcome | undefined } | undefined,
  ): SentScript<void> {
    const outcome = build?.outcome;
    const retryAfterMs = (outcome?.kind === 'failed' && outcome.retryAfterMs) || 0;
    return this.connection.send(
      this.scripts.release,
      build ? [keys.lease, keys.builds] : [keys.lease],
      [token, outcome?.kind ?? '', FIRST_BUILD_PAUSE_MS, LAST_BUILD_PAUSE_MS, jittered(1), retryAfterMs],
      () => {},
    );
  }
}

function acquireReply(reply: unknown, script: Script): AcquireReply {
  const [outcome, word] = Array.isArray(reply) ? reply.map(String) : [];
  if (outcome === 'HELD') return { outcome: 'held' };
  if (outcome === 'TAKEN' && word !== undefined) return { outcome: 'taken', lease: word };
  if (outcome === 'NOTDUE' && Number(word) > 0) return { outcome: 'not due', dueInMs: Number(word) };
  throw unexpectedReplyError(script.name, String(reply));
}
