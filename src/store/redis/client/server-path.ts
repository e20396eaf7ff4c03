import type { ConnectionEnds, RedisClient } from '../../index.js';
import {
  OLDER_CONNECTION,
  otherAddresses,
  serverReplaced,
  signsOfProxyFound,
  TWO_CONNECTIONS,
} from './client.messages.js';

/** A proxy that goes on replacing servers is reported once in this time. */
const REPORT_EVERY_MS = 60_000;
/** The server counts the age of a connection in whole seconds. */
const AGE_SLACK_MS = 3000;

/** Finds signs of a proxy between a connection and its server. */
export class ServerPath {
  private asked: { readonly by: string; readonly signs: Promise<readonly string[]> } | undefined;
  private reportedAt = -Infinity;

  constructor(private readonly client: RedisClient) {}

  /**
   * Looked for once, and given to the filter that asks first; nothing of a user who may not ask, or where
   * nothing is known.
   *
   * @param filter that asks.
   */
  async adviseAtStart(filter: string): Promise<readonly string[]> {
    if (this.client.nodes) return [];
    this.asked ??= { by: filter, signs: this.findSigns() };
    return this.asked.by === filter ? this.asked.signs : [];
  }

  /** When another server answers on a connection that stayed open. */
  adviceOnReplaced(before: string, now: string): string | undefined {
    if (performance.now() - this.reportedAt < REPORT_EVERY_MS) return undefined;
    this.reportedAt = performance.now();
    return serverReplaced(before, now);
  }

  private async findSigns(): Promise<readonly string[]> {
    try {
      const [call] = this.client.masters();
      const ask = () => call!('CLIENT', 'INFO');
      const replies = await Promise.all([ask(), ask()]);
      const ends = this.client.ends?.();
      const signs = ends ? signsOfProxy(ends, replies.map(String)) : undefined;
      return signs === undefined ? [] : [signsOfProxyFound(signs)];
    } catch {
      // Not permitted, or older than Redis 6.2.
      return [];
    }
  }
}

/**
 * What says that there is a proxy. An address that is translated on one side alone is no sign of it:
 * containers and services do that.
 *
 * @param infos replies of `CLIENT INFO`, sent one after the other.
 */
export function signsOfProxy(ends: ConnectionEnds, infos: readonly string[]): string | undefined {
  const [info, next] = infos.map(
    (text) => new Map(Array.from(text.matchAll(/(\S+?)=(\S*)/g), ([, k, v]) => [k!, v!])),
  );
  if (!info?.get('id')) return undefined;
  if (next && next.get('id') !== info.get('id')) return TWO_CONNECTIONS;
  const age = Number(info.get('age')) * 1000;
  if (ends.openMs !== undefined && age > ends.openMs + AGE_SLACK_MS) return OLDER_CONNECTION;
  const [from, to] = [info.get('addr'), info.get('laddr')];
  if (!from || !to || plain(from) === plain(ends.local) || plain(to) === plain(ends.remote)) return undefined;
  return otherAddresses({ from, to }, ends);
}

/** One spelling of an address. */
function plain(address: string): string {
  return address
    .replaceAll(/[[\]]/g, '')
    .replace(/^::ffff:/, '')
    .replace(/^::1:/, '127.0.0.1:');
}

/** Which run of a server answers is asked again after this time. */
export const ASK_RUN_EVERY_MS = 1000;
/** Servers that are remembered; names of connections that were closed are among them. */
const MAX_SERVERS = 1000;

/** A run of a server, as it was seen at a moment by `performance.now()`. */
export interface SeenRun {
  readonly runId: string;
  readonly at: number;
}

/**
 * Which run of which server answers on a connection. The server builds a text of a kilobyte for it, so that
 * all filters of the connection share one answer.
 */
export class ServerRuns {
  private readonly seen = new Map<string, SeenRun>();
  private readonly onTheirWay = new Map<string, Promise<SeenRun | undefined>>();

  /** The answer for this server that is on its way or at most a second old; undefined: ask. */
  recent(server: string): SeenRun | Promise<SeenRun | undefined> | undefined {
    const seen = this.seen.get(server);
    if (seen && performance.now() - seen.at < ASK_RUN_EVERY_MS) return seen;
    return this.onTheirWay.get(server);
  }

  /** Shares the answer to a question under way, unless it fails or says nothing of the server. */
  share(server: string, question: Promise<SeenRun | undefined>): void {
    const answer = question
      .catch(() => undefined)
      .then((seen) => {
        if (this.onTheirWay.get(server) === answer) this.onTheirWay.delete(server);
        if (this.seen.size >= MAX_SERVERS) this.seen.clear();
        if (seen) this.seen.set(server, seen);
        return seen;
      });
    this.onTheirWay.set(server, answer);
  }
}
