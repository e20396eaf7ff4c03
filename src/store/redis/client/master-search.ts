import {
  type BloomEventListener,
  BloomUnavailableError,
  describeError,
  jittered,
} from '../../../common/index.js';
import type { RedisClient } from '../../index.js';
import { noMaster } from './client.messages.js';

/** Pause between two connections that are opened in search of the master. */
const SEARCH_EVERY_MS = 1000;

/**
 * Follows the master when the address leads to another server while connections stay open, as behind the DNS
 * name of a managed Redis or a load balancer: a connection of ours that no master answers is opened again. A
 * client that was handed over is its owner's, who gets advice.
 */
export class MasterSearch {
  private searchedAt = -Infinity;
  private pauseMs = 0;
  /** When no master answered for the first time since one did. */
  private lostAt: number | undefined;
  private hasAdvised = false;

  constructor(
    private readonly client: RedisClient,
    private readonly emit: BloomEventListener,
  ) {}

  /** A master has answered. */
  found(): void {
    this.lostAt = undefined;
    this.hasAdvised = false;
  }

  /** Called when a command failed. Leaves the server if it is not a master, or not yet. */
  failed(error: unknown): void {
    if (!isFromNoMaster(error)) return;
    const now = performance.now();
    this.lostAt ??= now;
    if (now - this.searchedAt < this.pauseMs || !this.client.reconnect?.()) return;
    this.searchedAt = now;
    this.pauseMs = jittered(SEARCH_EVERY_MS);
    this.emit({
      type: 'connection-error',
      error: new BloomUnavailableError(noMaster(describeError(error)), { cause: error }),
    });
  }

  /** What the owner of the client should do about an error; once until a master answers. */
  adviceOn(error: unknown): string | undefined {
    if (this.hasAdvised || !isFromReplica(error)) return undefined;
    const advice = this.client.adviceOnReplica?.(performance.now() - (this.lostAt ?? Infinity));
    this.hasAdvised = advice !== undefined;
    return advice;
  }
}

/** Whether a replica refused: in a script the server's error may stand behind other words. */
function isFromReplica(error: unknown): boolean {
  return error instanceof Error && /(?:^|-)(?:READONLY|MASTERDOWN) /.test(error.message);
}

/** The same, or a server that loads its data, as a master that was made a replica does. */
function isFromNoMaster(error: unknown): boolean {
  return isFromReplica(error) || (error instanceof Error && /(?:^|-)LOADING /.test(error.message));
}
