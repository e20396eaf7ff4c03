import { randomUUID } from 'node:crypto';
import type { RedisConnection } from '../../client/redis-connection.js';
import { defineScripts, type Script } from '../../client/script.js';
import type { ScriptWithoutReply } from '../../client/script-without-reply.js';
import { unexpectedReplyError } from '../../client/server-replies.js';
import { coreLua } from '../../lua/core.generated.js';
import { LEASED_FORMAT, type RedisKeys } from '../../meta/redis-keys.js';
import { tagText } from '../../staging/segments.js';

/** A reader on a list. */
export interface Reader {
  readonly list: string;
  readonly reader: string;
}

/** A reader, and the number of the last entry that it has acknowledged. */
export interface Joined extends Reader {
  readonly acknowledged: number;
}

export type LeaseOutcome =
  | 'STALE'
  | 'RUN'
  | 'GAP'
  | {
      list: string;
      number: number;
      tag: number;
      announced: number | undefined;
      /** Whether what it has acknowledged a while ago has not come. */
      isLost: boolean;
    };

/** The number of the last entry that all readers have acknowledged; `LIST`: the list is gone. */
export type Acknowledged = number | 'LIST';

/** A name that was never used: of a reader or of a list. */
export function newName(): string {
  // It has 62 random bits. Node draws the bytes of UUIDs in advance, which would take most of the time.
  return randomUUID().slice(-17);
}

/** The scripts on the readers of a filter; `add`, `swap` and `offline` see to them too. */
export class CopyScripts {
  private readonly scripts = defineScripts(coreLua, [
    'copyLease',
    'copyAck',
    'copyLeave',
    'copyAcks',
    'copyAnnounce',
    'copyReady',
  ]);

  constructor(private readonly connection: RedisConnection) {}

  /** That of `acknowledge`. */
  get acknowledgement(): Script {
    return this.scripts.copyAck;
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
      /** The name that one that joins had before. */
      before: string;
      /** What it has acknowledged a while ago. */
      acknowledged: number;
    },
  ): Promise<LeaseOutcome> {
    const { storedTag, runId, reader, leaseMs, held, before, acknowledged } = options;
    const { copyLease } = this.scripts;
    const reply = await this.connection.run(
      copyLease,
      [keys.meta, keys.readers, keys.feed, keys.acks],
      [
        storedTag,
        runId,
        reader,
        leaseMs,
        held?.list ?? '',
        held?.applied ?? before,
        newName(),
        LEASED_FORMAT,
        acknowledged,
      ],
    );
    if (Array.isArray(reply)) {
      const [list, number, tag, announced, lost] = reply as [Buffer, number, Buffer, Buffer, Buffer];
      return {
        list: String(list),
        number,
        tag: tagIn(tag),
        announced: announced.length > 0 ? tagIn(announced) : undefined,
        isLost: lost.length > 0,
      };
    }
    const text = String(reply);
    if (text === 'STALE' || text === 'RUN' || text === 'GAP') return text;
    throw unexpectedReplyError(copyLease.name, text);
  }

  /** With a reply, unless it is sent without. */
  async acknowledge(
    { readers, acks }: RedisKeys,
    joined: Joined,
    number: number,
    silent?: ScriptWithoutReply,
  ): Promise<void> {
    const names = [readers, acks];
    const args = [joined.list, joined.reader, number, joined.acknowledged];
    if (!silent?.send(names, args)) await this.connection.run(this.scripts.copyAck, names, args);
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
