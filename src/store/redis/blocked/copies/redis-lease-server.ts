import type { LeaseServer, FeedListener, HeldCopy, LeaseReply } from '../../../index.js';
import type { ChannelReader } from '../../client/channel-reader.js';
import type { ScriptWithoutReply } from '../../client/script-without-reply.js';
import type { StreamReader } from '../../client/stream-reader.js';
import { asUnavailable, unavailable } from '../../meta/unknown-reason.js';
import type { BlockedContext } from '../blocked-context.js';
import type { BlockedSnapshot } from '../blocked-meta.js';
import { acknowledgementsAnswered, entriesUnheard, NO_RUN_ID } from './copies.messages.js';
import { type Joined, newName } from './copy-scripts.js';
import { CopyFeed } from './copy-feed.js';

/** What there is beside the connection of a store, each on a connection of its own. */
export interface ExtraConnections {
  readonly streams: StreamReader;
  readonly channels: ChannelReader;
  /** Acknowledges entries. */
  readonly silent: ScriptWithoutReply;
}

/** No acknowledgement takes so long, unless the machine is very busy. */
const ARRIVAL_MS = 50;
const NOT_LIVE: LeaseReply = { outcome: 'not-live' };

/** The leases of one process for its copy of one filter. */
export class RedisLeaseServer implements LeaseServer {
  /**
   * Place of this process on the list. Each copy has a name of its own, so late commands concern no later
   * copy.
   */
  private joined: Joined | undefined;
  /** The name under which this process has asked to join last, also if it has not heard whether it did. */
  private before = '';
  /** When it acknowledged last, by `performance.now()`. */
  private acknowledgedAt = 0;
  /** What it had acknowledged when it asked for the lease that it has. */
  private acknowledgedBefore = 0;
  private feed: CopyFeed | undefined;
  /** The kinds of advice that have been given. */
  private readonly advised = new Set<string>();

  constructor(
    private readonly context: BlockedContext,
    private readonly side: ExtraConnections,
    private readonly leaseMs: number,
  ) {}

  /** The reader of this process while it is on a list: its copy has the ids of all adds under way here. */
  get reader(): string | undefined {
    return this.joined?.reader;
  }

  get server(): string {
    const { connection, keys } = this.context;
    return connection.serverOf(keys.meta);
  }

  async take(held: HeldCopy | undefined): Promise<LeaseReply> {
    const { metadata } = this.context;
    const reply = await this.ask(held, await unavailable(metadata.current()));
    // Another generation may have gone live since this process read the metadata.
    if (held && reply === NOT_LIVE) return this.ask(held, await unavailable(metadata.reload()));
    return reply;
  }

  private async ask(held: HeldCopy | undefined, snapshot: BlockedSnapshot): Promise<LeaseReply> {
    const { metadata, copyScripts, keys } = this.context;
    if (!snapshot.live) return NOT_LIVE;
    if (snapshot.runId === '') return { outcome: 'refused', reason: NO_RUN_ID };
    const renewed = held && this.joined?.list === held.list ? this.joined : undefined;
    // The held copy never joined this list, so it has no lease.
    if (held && !renewed) return NOT_LIVE;
    const reader = renewed?.reader ?? newName();
    const { storedTag, runId } = snapshot;
    const { before, leaseMs } = this;
    const acknowledgedNow = renewed?.acknowledged ?? 0;
    if (!renewed) {
      this.joined = undefined;
      this.before = reader;
    }
    const reply = await unavailable(
      copyScripts.lease(keys, {
        storedTag,
        runId,
        reader,
        held,
        leaseMs,
        before,
        acknowledged: renewed ? this.arrived : 0,
      }),
    );
    if (reply === 'RUN') return { outcome: 'refused', reason: NO_RUN_ID };
    if (typeof reply === 'string' || !metadata.isOfServer(snapshot)) {
      // A reader that was on the list stays there until it leaves: it may still believe in its copy.
      metadata.forget();
      return NOT_LIVE;
    }
    if (!renewed) {
      this.joined = { list: reply.list, reader, acknowledged: reply.number };
      this.side.silent.use(this.onLost);
    }
    this.acknowledgedBefore = acknowledgedNow;
    const { isLost, ...granted } = reply;
    if (isLost) this.side.silent.missed();
    // It has been made known just now that the filter is read with leases.
    if (!storedTag.startsWith('L')) metadata.forget();
    this.feed?.written(reply.number);
    return { outcome: 'granted', ...granted };
  }

  /** What it has acknowledged so long ago that the server has it, unless it was lost. */
  private get arrived(): number {
    const isOnItsWay = performance.now() - this.acknowledgedAt < ARRIVAL_MS;
    return isOnItsWay ? this.acknowledgedBefore : this.joined!.acknowledged;
  }

  /** May resolve before the server has it: renewals show whether it came, and make up for it otherwise. */
  async acknowledge({ list, applied }: HeldCopy): Promise<void> {
    const { joined } = this;
    const { silent } = this.side;
    if (joined?.list !== list) return;
    const { copyScripts, keys } = this.context;
    try {
      await copyScripts.acknowledge(keys, joined, applied, silent);
    } catch (error) {
      throw asUnavailable(error);
    }
    this.acknowledgedAt = performance.now();
    if (this.joined === joined) this.joined = { list, reader: joined.reader, acknowledged: applied };
    if (silent.refusal !== undefined) this.advise('replies', acknowledgementsAnswered(silent.refusal));
  }

  async ready(tag: number): Promise<void> {
    const { joined } = this;
    if (!joined) return;
    const { copyScripts, keys } = this.context;
    await unavailable(copyScripts.ready(keys, joined, tag));
  }

  async leave(): Promise<void> {
    const { joined } = this;
    this.joined = undefined;
    this.stop();
    this.side.silent.stop(this.onLost);
    if (!joined) return;
    const { copyScripts, keys, emit, name } = this.context;
    try {
      await copyScripts.leave(keys, joined);
    } catch (error) {
      // The lease ends without it.
      emit({ type: 'store-error', filter: name, operation: 'give the lease of a copy back', error });
    }
  }

  /** What was sent last is sent once more, with a reply. */
  private readonly onLost = (): void => {
    const { joined } = this;
    if (!joined) return;
    const { copyScripts, keys, emit, name } = this.context;
    const before = { ...joined, acknowledged: this.acknowledgedBefore };
    copyScripts.acknowledge(keys, before, joined.acknowledged).catch((error: unknown) => {
      // A renewal makes up for it.
      emit({ type: 'store-error', filter: name, operation: 'acknowledge entries of the feed', error });
    });
  };

  follow(after: number, listener: FeedListener): () => void {
    this.stop();
    const { context, joined } = this;
    const { streams, channels } = this.side;
    const { feed: key } = context.keys;
    const onUnheard = (error?: string) => this.advise('messages', entriesUnheard(key, error));
    const place = { list: joined?.list ?? '', after };
    const feed = new CopyFeed(place, listener, { key, streams, channels, onUnheard });
    this.feed = feed;
    return () => feed.stop();
  }

  private advise(kind: 'messages' | 'replies', text: string): void {
    const { emit, name } = this.context;
    if (!this.advised.has(kind)) emit({ type: 'advice', filter: name, text });
    this.advised.add(kind);
  }

  private stop(): void {
    this.feed?.stop();
    this.feed = undefined;
  }
}
