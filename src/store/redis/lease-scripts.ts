import { BloomUnavailableError } from '../../common/index.js';
import { type RedisConnection, Script, type SentScript } from './redis-connection.js';
import type { RedisKeys } from './redis-keys.js';

export type LeaseKeys = Pick<RedisKeys, 'lease'>;

export type AcquireReply =
  { readonly outcome: 'taken'; readonly lease: string } | { readonly outcome: 'held' };

/** The scripts that take, prolong and give back a lease. */
export class LeaseScripts {
  private readonly acquireScript: Script;
  private readonly renewScript: Script;
  private readonly releaseScript: Script;

  constructor(
    private readonly connection: RedisConnection,
    sources: Record<'acquire' | 'renew' | 'release', { readonly source: string }>,
  ) {
    this.acquireScript = new Script('acquire', sources.acquire.source);
    this.renewScript = new Script('renew', sources.renew.source);
    this.releaseScript = new Script('release', sources.release.source);
  }

  acquire(
    keys: LeaseKeys,
    options: { token: string; lifeMs: number; givenUp: readonly string[] },
  ): SentScript<AcquireReply> {
    const { token, lifeMs, givenUp } = options;
    return this.connection.send(this.acquireScript, [keys.lease], [token, lifeMs, ...givenUp], acquireReply);
  }

  /** False: the lease is not the caller's any more. */
  async renew(
    keys: LeaseKeys,
    options: { lease: string; leaseMs: number; staged?: readonly string[]; stagedLifeMs?: number },
  ): Promise<boolean> {
    const { lease, leaseMs, staged = [], stagedLifeMs = 0 } = options;
    const reply = await this.connection.run(
      this.renewScript,
      [keys.lease, ...staged],
      [lease, leaseMs, stagedLifeMs],
    );
    switch (String(reply)) {
      case 'OK':
        return true;
      case 'LEASE':
        return false;
      default:
        throw unexpected(reply, this.renewScript);
    }
  }

  release(keys: LeaseKeys, token: string): SentScript<void> {
    return this.connection.send(this.releaseScript, [keys.lease], [token], () => {});
  }
}

function acquireReply(reply: unknown, script: Script): AcquireReply {
  const [outcome, lease] = Array.isArray(reply) ? reply.map(String) : [];
  if (outcome === 'HELD') return { outcome: 'held' };
  if (outcome === 'TAKEN' && lease !== undefined) return { outcome: 'taken', lease };
  throw unexpected(reply, script);
}

function unexpected(reply: unknown, { name }: Script): BloomUnavailableError {
  return new BloomUnavailableError(`Redis answered '${String(reply)}' to the script '${name}'.`);
}
