import { setTimeout as delay } from 'node:timers/promises';
import {
  clusterSlot,
  type RedisClient,
  type RedisClientEvents,
  type RedisNodes,
  type RedisWord,
} from 'nestjs-bloom/store';
import { type ClientOptions, inWords, type Word } from './connection.js';
import { ExtraClient } from './extra-client.js';
import { KeyedClient } from './keyed-client.js';
import { CLOSED, NO_SLOTS, noMasterOfSlot } from './node-redis.messages.js';
import { OwnClient } from './own-client.js';
import { type AddressMap, mapped, ServerPlace } from './place.js';

/** What is used of the options of `createCluster()`. */
export interface ClusterOptions {
  readonly rootNodes: readonly ClientOptions[];
  readonly defaults?: ClientOptions;
  readonly nodeAddressMap?: AddressMap;
  readonly keyPrefix?: unknown;
}

/** A master, by the name that the others know. */
interface Master {
  readonly address: string;
  readonly host: string;
  readonly client: OwnClient;
  /** A redirection named it since the slots were read. */
  isNamed: boolean;
}

/** The host that was asked, and its reply to `CLUSTER SLOTS`. */
type SlotsReply = readonly [askedHost: string, ranges: readonly SlotRange[]];
type SlotRange = readonly [from: number, to: number, master: readonly [host: Buffer | null, port: number]];

/** As node-redis and ioredis have it. */
const MOST_REDIRECTIONS = 16;
/** Pause before a command that a cluster cannot run at the moment is sent again. */
const AGAIN_AFTER_MS = 100;
/** A root node that has not answered by then is left out. */
const ASK_WITHIN_MS = 1000;
/** How many masters are asked at once where slots are. */
const ASKED_AT_ONCE = 3;
const LONGEST_PAUSE_MS = 1000;
const SLOTS = 16_384;

/** A connection to each master of a cluster. What is sent while a slot moves follows it. */
export class ClusterClient extends KeyedClient implements RedisClient {
  readonly nodes: RedisNodes = {
    masterOf: (slot) => String(this.slots[slot]?.address),
    all: () => [...this.serving].map(({ address }) => address),
  };
  private events!: RedisClientEvents;
  private isClosed = false;
  /** The master of each slot; empty before the first answer. */
  private slots: Master[] = [];
  /** Those that have slots. */
  private serving = new Set<Master>();
  private readonly known = new Map<string, Master>();
  private reading: Promise<void> | undefined;
  /** Why the slots could not be read the last time. */
  private failure: unknown;
  private failures = 0;
  private again: NodeJS.Timeout | undefined;

  constructor(
    private readonly options: ClusterOptions,
    private readonly writeTimeoutMs: number,
  ) {
    super(String(options.keyPrefix ?? ''));
  }

  get disconnected(): string | undefined {
    if (this.isClosed) return 'end';
    if (this.slots.length === 0) return this.failures === 0 ? undefined : 'reconnecting';
    for (const { client } of this.serving) if (client.disconnected === undefined) return undefined;
    return 'reconnecting';
  }

  get isSettled(): boolean {
    return this.disconnected === undefined;
  }

  listen(events: RedisClientEvents): void {
    this.events = events;
  }

  async send(words: Word[], key: string): Promise<unknown> {
    const slot = clusterSlot(key);
    if (!this.slots[slot]) await this.readSlots();
    let master = this.slots[slot];
    let isAsking = false;
    for (let redirections = 0; ; redirections++) {
      if (this.isClosed) throw new Error(CLOSED);
      if (!master) throw this.failure ?? new Error(noMasterOfSlot(slot));
      try {
        // The server takes the next command of the connection for one of a slot that is on its way here.
        if (isAsking) master.client.send(['ASKING']).catch(() => {});
        return await master.client.send(words);
      } catch (error) {
        const [kind, , address] = error instanceof Error ? error.message.split(' ') : [];
        if (redirections === MOST_REDIRECTIONS) throw error;
        isAsking = kind === 'ASK';
        if ((isAsking || kind === 'MOVED') && address !== undefined) {
          master = this.masterAt(address, master.host);
          master.isNamed = true;
          if (isAsking) continue;
          // Known before it is asked.
          this.slots[slot] = master;
          void this.readSlots();
          // Nodes that do not agree yet name one another.
          if (redirections > 1) await delay(AGAIN_AFTER_MS);
        } else if (kind === 'TRYAGAIN' || kind === 'CLUSTERDOWN') {
          void this.readSlots();
          await delay(AGAIN_AFTER_MS);
          master = this.slots[slot];
        } else throw error;
      }
    }
  }

  masters(): ((...words: RedisWord[]) => Promise<unknown>)[] {
    return [...this.serving].map(
      ({ client }) =>
        (...words) =>
          client.send(inWords(words)),
    );
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.again);
    for (const { client } of this.known.values()) client.close();
  }

  /** Where slots are, asked once for all who want to know; never rejects. */
  private readSlots(): Promise<void> {
    if (this.isClosed) return Promise.resolve();
    return (this.reading ??= this.askForSlots().finally(() => (this.reading = undefined)));
  }

  private async askForSlots(): Promise<void> {
    clearTimeout(this.again);
    try {
      const reply = await Promise.any(this.askMasters()).catch(() => Promise.any(this.askRoots()));
      if (this.isClosed) return;
      this.take(reply);
      this.failures = 0;
      this.failure = undefined;
    } catch (error) {
      if (this.isClosed) return;
      this.failure = error instanceof AggregateError ? error.errors[0] : error;
      this.failures++;
      this.events.onError(this.failure);
      const pauseMs = Math.min(50 * this.failures, LONGEST_PAUSE_MS);
      this.again = setTimeout(() => void this.readSlots(), pauseMs).unref();
    }
  }

  /** Asks some that are connected: one that is not may be the reason to ask. */
  private askMasters(): Promise<SlotsReply>[] {
    const connected = [...this.known.values()].filter(({ client }) => client.ready);
    return connected
      .toSorted(() => Math.random() - 0.5)
      .slice(0, ASKED_AT_ONCE)
      .map(async ({ host, client }): Promise<SlotsReply> => [
        host,
        (await client.send(['CLUSTER', 'SLOTS'])) as SlotRange[],
      ]);
  }

  private askRoots(): Promise<SlotsReply>[] {
    const { rootNodes, defaults } = this.options;
    return rootNodes.map(async (root): Promise<SlotsReply> => {
      const socket = { ...defaults?.socket, ...root.socket };
      const { host = root.url === undefined ? 'localhost' : new URL(root.url).hostname } = root.socket ?? {};
      const place = new ServerPlace({ ...defaults, ...root, socket });
      const connection = new ExtraClient(place, { onError() {}, onEnded() {} }, ASK_WITHIN_MS);
      try {
        return [host, (await connection.call('CLUSTER', 'SLOTS')) as SlotRange[]];
      } finally {
        connection.close();
      }
    });
  }

  private take([askedHost, ranges]: SlotsReply): void {
    if (ranges.length === 0) throw new Error(NO_SLOTS);
    const slots = Array.from<Master>({ length: SLOTS });
    const serving = new Set<Master>();
    for (const [from, to, [host, port]] of ranges) {
      const master = this.masterAt(`${host ?? ''}:${port}`, askedHost);
      serving.add(master);
      slots.fill(master, from, to + 1);
    }
    this.slots = slots;
    this.serving = serving;
    for (const master of this.known.values()) {
      // A master that imports its first slot is asked, and has none yet.
      if (!serving.has(master) && !master.isNamed) this.drop(master);
      master.isNamed = false;
    }
    this.events.onSlots();
  }

  /** @param askedHost the host of a server that names no other host than its own. */
  private masterAt(named: string, askedHost: string): Master {
    const address = named.startsWith(':') ? askedHost + named : named;
    let master = this.known.get(address);
    if (master) return master;
    const { defaults = {}, nodeAddressMap } = this.options;
    const at = address.lastIndexOf(':');
    const host = address.slice(0, at);
    const place = new ServerPlace(defaults, mapped(nodeAddressMap, host, Number(address.slice(at + 1))));
    const client = new OwnClient(place, '', this.writeTimeoutMs);
    client.listen({
      onEnded: (isSilent) => this.events.onEnded(isSilent),
      onSlots() {},
      onError: (error) => {
        this.events.onError(error);
        // Another one may have its slots.
        void this.readSlots();
      },
    });
    master = { address, host, client, isNamed: false };
    this.known.set(address, master);
    if (this.slots.length > 0) this.events.onEnded(false);
    return master;
  }

  private drop({ address, client }: Master): void {
    this.known.delete(address);
    client.close();
    this.events.onEnded(false);
  }
}
