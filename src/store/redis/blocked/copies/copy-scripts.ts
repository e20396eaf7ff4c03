import { randomBytes } from 'node:crypto';
import type { RedisConnection } from '../../client/redis-connection.js';
import { defineScripts, type LuaSources } from '../../client/script.js';
import { unexpectedReplyError } from '../../client/unexpected-reply.js';
import { coreLua } from '../../lua/core.generated.js';
import type { RedisKeys } from '../../protocol/redis-keys.js';
import { tagText } from '../../protocol/segments/segments.js';

/** A reader on a list. */
export interface Reader {
  readonly list: string;
  readonly reader: string;
}

/** A reader, and the number up to which it has acknowledged entries. */
export interface Joined extends Reader {
  readonly acknowledged: number;
  /** Whether it was the last one to acknowledge an entry. */
  readonly isLast: boolean;
}

export type LeaseOutcome =
  'STALE' | 'RUN' | 'GAP' | { list: string; number: number; tag: number; announced: number | undefined };

/** The number of the last entry that all readers have acknowledged; `LIST`: the list is gone. */
export type Acknowledged = number | 'LIST';

/** A name that was never used: of a reader or of a list. */
export function newName(): string {
  return randomBytes(8).toString('hex');
}

/** The scripts on the readers of a filter; `add`, `swap` and `offline` see to them too. */
export class CopyScripts {
  private readonly scripts;

  constructor(
    private readonly connection: RedisConnection,
    sources?: LuaSources,
  ) {
    this.scripts = defineScripts(
      coreLua,
      ['copyLease', 'copyAck', 'copyLeave', 'copyAcks', 'copyAnnounce', 'copyReady'],
      sources,
    );
  }

  async lease(
    keys: RedisKeys,
    options: {
      storedTag: string;
      runId: string;
      reader: string;
      leaseMs: number;
      /** Undefined for one that joins. */
      held: { list: string; applied: number } | undefined;
      /** Of the metadata from then on. */
      format: string;
      /** The name that one that joins had before. */
      before: string;
    },
  ): Promise<LeaseOutcome> {
    const { storedTag, runId, reader, leaseMs, held, before, format } = options;
    const { copyLease } = this.scripts;
    const reply = await this.connection.run(
      copyLease,
      [keys.meta, keys.readers, keys.feed, keys.acks],
      [storedTag, runId, reader, leaseMs, held?.list ?? '', held?.applied ?? before, newName(), format],
    );
    if (Array.isArray(reply)) {
      const [list, number, tag, announced] = reply as [Buffer, number, Buffer, Buffer];
      return {
        list: String(list),
        number,
        tag: tagIn(tag),
        announced: announced.length > 0 ? tagIn(announced) : undefined,
      };
    }
    const text = String(reply);
    if (text === 'STALE' || text === 'RUN' || text === 'GAP') return text;
    throw unexpectedReplyError(copyLease.name, text);
  }

  /** Resolves with whether this reader was the last one to acknowledge, so that adders were told. */
  async acknowledge(keys: RedisKeys, joined: Joined, number: number): Promise<boolean> {
    const { list, reader, acknowledged } = joined;
    const reply = await this.connection.run(
      this.scripts.copyAck,
      [keys.meta, keys.readers, keys.acks],
      [list, reader, number, acknowledged],
    );
    return String(reply) === 'LAST';
  }

  /**
   * The same at a fifth of the server's time, and tells nobody.
   *
   * @returns whether adders may have to be told.
   */
  note({ readers }: RedisKeys, { reader, acknowledged }: Joined, number: number): Promise<boolean> {
    const noted = this.connection.sendTogether('copyAck', [
      ['zadd', readers, 'XX', 'GT', number, `a:${reader}`],
      ['zcount', readers, '-inf', acknowledged],
    ]);
    return noted.then(([, behind]) => behind === 0);
  }

  async leave(keys: RedisKeys, { list, reader }: Reader): Promise<void> {
    await this.connection.run(this.scripts.copyLeave, [keys.meta, keys.readers, keys.acks], [list, reader]);
  }

  /**
   * Announces a staging to the readers, so that they copy it before it goes live.
   *
   * @param begins false: only asks how things stand.
   * @returns for how many of them to wait.
   */
  async announce(keys: RedisKeys, token: string, begins: boolean): Promise<number> {
    const { copyAnnounce } = this.scripts;
    return Number(
      await this.connection.run(copyAnnounce, [keys.meta, keys.readers], [token, begins ? 1 : 0]),
    );
  }

  /** Nobody has to wait for this reader before the announced staging goes live. */
  async ready(keys: RedisKeys, { reader }: Reader, tag: number): Promise<void> {
    await this.connection.run(this.scripts.copyReady, [keys.meta], [reader, tagText({ tag })]);
  }

  async acknowledged(keys: RedisKeys, list: string, ms: number): Promise<Acknowledged> {
    return acknowledgedIn(
      String(await this.connection.run(this.scripts.copyAcks, [keys.meta, keys.readers], [list, ms])),
    );
  }
}

function tagIn(text: Buffer): number {
  return Number.parseInt(String(text), 16);
}

/** Reads what a script or a message says. */
export function acknowledgedIn(text: string): Acknowledged {
  return text === 'LIST' ? text : Number(text);
}
