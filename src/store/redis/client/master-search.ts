import type { Cluster, Redis } from 'ioredis';
import {
  type BloomEventListener,
  BloomUnavailableError,
  describeError,
  jittered,
} from '../../../common/index.js';
import { noMaster, SERVER_IS_REPLICA } from './client.messages.js';

/** Pause between two connections that are opened in search of the master. */
const SEARCH_EVERY_MS = 1000;
/** A client that reconnects on READONLY on its own has so long to find the master. */
const CLIENT_SEARCHES_MS = 3000;
/** A connection that is not ready after this time is opened again. */
const READY_WITHIN_MS = 2000;
/** As ioredis has them while a server is there that could be left. */
const CONNECTED = new Set(['ready', 'connect']);

/**
 * Follows the master when the address leads to another server while connections stay open, as behind the DNS
 * name of a managed Redis or a load balancer: a connection of ours that no master answers is opened again. A
 * client that was handed over is its owner's, who gets advice.
 */
export class MasterSearch {
  private readonly ours: Redis | undefined;
  private searchedAt = -Infinity;
  private pauseMs = 0;
  /** When no master answered for the first time since one did. */
  private lostAt: number | undefined;
  private hasAdvised = false;
  private handshake: NodeJS.Timeout | undefined;

  private readonly onConnect = () => {
    clearTimeout(this.handshake);
    this.handshake = setTimeout(() => {
      // A server that loads its data may be one that the address has left.
      if (this.ours?.status === 'connect') this.ours.disconnect(true);
    }, READY_WITHIN_MS).unref();
  };
  private readonly onSettled = () => clearTimeout(this.handshake);

  constructor(
    private readonly client: Redis | Cluster,
    owned: boolean,
    private readonly emit: BloomEventListener,
  ) {
    // One whose options forbid to connect again would be lost.
    const { retryStrategy } = client.options as { retryStrategy?: unknown };
    const isOurs = owned && !client.isCluster && typeof retryStrategy === 'function';
    this.ours = isOurs ? (client as Redis) : undefined;
    this.ours?.on('connect', this.onConnect).on('ready', this.onSettled).on('close', this.onSettled);
  }

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
    const { ours } = this;
    if (!ours || now - this.searchedAt < this.pauseMs || !CONNECTED.has(ours.status)) return;
    this.searchedAt = now;
    this.pauseMs = jittered(SEARCH_EVERY_MS);
    ours.disconnect(true);
    this.emit({
      type: 'connection-error',
      error: new BloomUnavailableError(noMaster(describeError(error)), { cause: error }),
    });
  }

  /** What the owner of the client should do about an error; once until a master answers. */
  adviceOn(error: unknown): string | undefined {
    if (!isFromReplica(error) || this.ours || this.client.isCluster || this.hasAdvised) return undefined;
    const { reconnectOnError } = this.client.options as { reconnectOnError?: unknown };
    const lostMs = performance.now() - (this.lostAt ?? Infinity);
    if (typeof reconnectOnError === 'function' && !(lostMs >= CLIENT_SEARCHES_MS)) return undefined;
    this.hasAdvised = true;
    return SERVER_IS_REPLICA;
  }

  close(): void {
    clearTimeout(this.handshake);
    this.ours?.off('connect', this.onConnect).off('ready', this.onSettled).off('close', this.onSettled);
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
