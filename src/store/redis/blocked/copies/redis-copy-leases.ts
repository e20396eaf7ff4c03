import type { CopyLeases, FeedListener, HeldCopy, LeaseReply } from '../../../index.js';
import type { ChannelReader } from '../../client/channel-reader.js';
import type { StreamReader } from '../../client/stream-reader.js';
import { asUnavailable, unavailable } from '../../protocol/batching-filter.js';
import type { BlockedContext } from '../blocked-context.js';
import type { BlockedSnapshot } from '../blocked-snapshot.js';
import { entriesUnheard, NO_RUN_ID } from './copies.messages.js';
import { type Joined, newName } from './copy-scripts.js';
import { FollowedFeed } from './followed-feed.js';

const NOT_LIVE: LeaseReply = { outcome: 'not-live' };

/** The leases of one process for its copy of one filter. */
export class RedisCopyLeases implements CopyLeases {
  /** Where this process is on the list, under a name of its own for each copy: a command that arrives late speaks of no later copy. */
  private joined: Joined | undefined;
  /** The name under which this process has asked to join last, also if it has not heard whether it did. */
  private before = '';
  private feed: FollowedFeed | undefined;
  private isAdvised = false;

  constructor(
    private readonly context: BlockedContext,
    private readonly streams: StreamReader,
    private readonly channels: ChannelReader,
    private readonly leaseMs: number,
  ) {}

  /** The reader of this process, while it is on a list: its copy has the ids of every add of this process that is on its way. */
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
    const { metadata, copyScripts, keys, leasedFormat } = this.context;
    if (!snapshot.live) return NOT_LIVE;
    if (snapshot.runId === '') return { outcome: 'refused', reason: NO_RUN_ID };
    const renewed = held && this.joined?.list === held.list ? this.joined : undefined;
    // Of another copy: it is not on this list.
    if (held && !renewed) return NOT_LIVE;
    const reader = renewed?.reader ?? newName();
    const { storedTag, runId } = snapshot;
    const { before, leaseMs } = this;
    if (!renewed) {
      this.joined = undefined;
      this.before = reader;
    }
    const reply = await unavailable(
      copyScripts.lease(keys, { storedTag, runId, reader, held, leaseMs, before, format: leasedFormat }),
    );
    if (reply === 'RUN') return { outcome: 'refused', reason: NO_RUN_ID };
    if (typeof reply === 'string' || !metadata.isOfServer(snapshot)) {
      // A reader that was on the list stays there until it leaves: it may still believe in its copy.
      metadata.forget();
      return NOT_LIVE;
    }
    if (!renewed) this.joined = { list: reply.list, reader, acknowledged: reply.number, isLast: true };
    // It has been made known just now that the filter is read with leases.
    if (!storedTag.startsWith('L')) metadata.forget();
    this.feed?.written(reply.number);
    return { outcome: 'granted', ...reply };
  }

  /** The last reader tells adders by its script at once; others note their number by two plain commands, and find out whether they are the last. */
  async acknowledge({ list, applied }: HeldCopy): Promise<void> {
    const { joined } = this;
    if (joined?.list !== list) return;
    const { copyScripts, keys } = this.context;
    try {
      const isLast =
        (joined.isLast || (await copyScripts.note(keys, joined, applied))) &&
        (await copyScripts.acknowledge(keys, joined, applied));
      if (this.joined === joined)
        this.joined = { list, reader: joined.reader, acknowledged: applied, isLast };
    } catch (error) {
      throw asUnavailable(error);
    }
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
    if (!joined) return;
    const { copyScripts, keys, emit, name } = this.context;
    try {
      await copyScripts.leave(keys, joined);
    } catch (error) {
      // The lease ends without it.
      emit({ type: 'store-error', filter: name, operation: 'give the lease of a copy back', error });
    }
  }

  follow(after: number, listener: FeedListener): () => void {
    this.stop();
    const { streams, channels, context, joined } = this;
    const onUnheard = (error?: string) => this.adviseOnUnheard(error);
    const { feed: key } = context.keys;
    const place = { list: joined?.list ?? '', after };
    const feed = new FollowedFeed(place, listener, { key, streams, channels, onUnheard });
    this.feed = feed;
    return () => feed.stop();
  }

  private adviseOnUnheard(error: string | undefined): void {
    const { emit, name, keys } = this.context;
    if (!this.isAdvised) emit({ type: 'advice', filter: name, text: entriesUnheard(keys.feed, error) });
    this.isAdvised = true;
  }

  private stop(): void {
    this.feed?.stop();
    this.feed = undefined;
  }
}
