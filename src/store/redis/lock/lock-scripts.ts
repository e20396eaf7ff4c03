import { jittered } from '../../../common/index.js';
import {
  type BuildOccasion,
  type BuildOutcome,
  FIRST_BUILD_PAUSE_MS,
  LAST_BUILD_PAUSE_MS,
} from '../../index.js';
import type { RedisConnection, SentScript } from '../client/redis-connection.js';
import { defineScripts, type Script } from '../client/script.js';
import { unexpectedReplyError } from '../client/server-replies.js';
import { coreLua } from '../lua/core.generated.js';
import type { RedisKeys } from '../meta/redis-keys.js';

const SCRIPTS = defineScripts(coreLua, ['acquire', 'renew', 'release']);

export type LockKeys = Pick<RedisKeys, 'lease' | 'builds'>;

export type AcquireReply =
  | { readonly outcome: 'taken'; readonly lease: string }
  | { readonly outcome: 'held' }
  | { readonly outcome: 'not due'; readonly dueInMs: number };

/** The scripts that take, prolong and give back the lock of a rebuild. */
export class LockScripts {
  constructor(private readonly connection: RedisConnection) {}

  acquire(
    keys: LockKeys,
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
      SCRIPTS.acquire,
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
    keys: LockKeys,
    options: { lease: string; leaseMs: number; stagingKeys?: readonly string[]; stagingLifeMs?: number },
  ): Promise<boolean> {
    const { lease, leaseMs, stagingKeys = [], stagingLifeMs = 0 } = options;
    const reply = await this.connection.run(
      SCRIPTS.renew,
      [keys.lease, ...stagingKeys],
      [lease, leaseMs, stagingLifeMs],
    );
    switch (String(reply)) {
      case 'OK':
        return true;
      case 'LEASE':
        return false;
      default:
        throw unexpectedReplyError(SCRIPTS.renew.name, String(reply));
    }
  }

  /** @param build undefined: nothing was noted of a build. */
  release(
    keys: LockKeys,
    token: string,
    build: { readonly outcome: BuildOutcome | undefined } | undefined,
  ): SentScript<void> {
    const outcome = build?.outcome;
    const retryAfterMs = (outcome?.kind === 'failed' && outcome.retryAfterMs) || 0;
    return this.connection.send(
      SCRIPTS.release,
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
