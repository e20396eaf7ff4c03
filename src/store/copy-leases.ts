import type { Generation } from '../filter/index.js';

/**
 * The right of one process to answer "absent" from its copy of a filter. Whoever adds waits until every process with a lease has acknowledged the entry of the add in
 * the feed, or its lease is over. The protocol, and what proves it, is in docs/design.md.
 */
export interface CopyLeases {
  /** Names the server that answers, as far as the connection tells. Under another name, blocks may be those of another server, which may have fewer ids. */
  readonly server: string;

  /**
   * Asks for a lease, or renews one. Blocks that are read after the reply have all that is in entries up to its number.
   *
   * Without `held`, a new reader takes the place of the one that this object had: nobody waits for that one any longer, and what was sent for it and arrives late (an
   * acknowledgement, a `leave`, an add of this process) changes nothing for the new one. An add of this process may count as acknowledged by the reader that it
   * names, because its ids are in the copy of that reader before the add is sent.
   *
   * @param held what the copy is of; undefined: there is none yet.
   * @throws {BloomUnavailableError} when the store cannot be asked.
   */
  take(held: HeldCopy | undefined): Promise<LeaseReply>;

  /**
   * Says that all entries up to this number have been applied.
   *
   * @throws {BloomUnavailableError} when the store cannot be asked.
   */
  acknowledge(copy: HeldCopy): Promise<void>;

  /**
   * Nobody has to wait for this process before the announced staging goes live: it has a copy of that, or will have none.
   *
   * @throws {BloomUnavailableError} when the store cannot be asked.
   */
  ready(tag: Generation['tag']): Promise<void>;

  /** Gives the lease back: nobody waits for this process any longer. The copy must not be believed any more. Never rejects. */
  leave(): Promise<void>;

  /**
   * Calls the listener with the entries after a number, in order, until it is stopped. Called again, it starts over from another number.
   *
   * @returns stops it.
   */
  follow(after: number, listener: FeedListener): () => void;
}

/** Which feed a copy follows, and how far. */
export interface HeldCopy {
  /** Names the feed: numbers of another one mean nothing. */
  readonly list: string;
  /** The last entry that was applied. */
  readonly applied: number;
}

export type LeaseReply =
  | {
      readonly outcome: 'granted';
      readonly list: string;
      /** The last entry that was written. */
      readonly number: number;
      readonly tag: number;
      /** Of the staging that is announced: it may be copied, and entries have its places from the one after `number` on. */
      readonly announced?: Generation['tag'] | undefined;
    }
  /** Nothing is live, or it changes at this moment. */
  | { readonly outcome: 'not-live' }
  /** This server has no leases for this process; what to do. */
  | { readonly outcome: 'refused'; readonly reason: string };

export interface FeedListener {
  /**
   * Entries with consecutive numbers, unless some were lost: what is missing shows in `number`. Messages (`isMessage`) may come in any order, several times, or not at
   * all. Each entry that did not come as a message comes from the stream, without `isMessage`.
   */
  onEntries(entries: readonly FeedEntry[]): void;
}

export interface FeedEntry {
  readonly list: string;
  readonly number: number;
  /** Of the generation that is live after it. */
  readonly tag: Generation['tag'];
  /** Of ids that were added, for each its block and then its seed in that generation; undefined: a generation was swapped in. */
  readonly places: Uint32Array | undefined;
  /** Of an add: the tag of the announced staging, if there is one. Of a swap: the tag of the generation if its staging was announced. */
  readonly staged?: Generation['tag'] | undefined;
  /** The ids in the announced staging, those that are live already too. */
  readonly stagedPlaces?: Uint32Array | undefined;
  /** Whether it came as a message: entries before it may be missing, and come later. */
  readonly isMessage?: boolean;
}

/** Why a copy has no lease. */
export type BloomUnleasedCause =
  | 'not-loaded'
  | 'load-failed'
  /** Not renewed in time. */
  | 'lapsed'
  | 'store-silent'
  /** No generation is live. */
  | 'not-live'
  | 'other-generation'
  /** Entries of adds are missing, or do not arrive. */
  | 'feed-lost'
  /** The server has no leases for this process: `reason` says why. */
  | 'refused'
  /** The store has no leases. */
  | 'no-leases';

/** Whether a process answers "absent" from its copy. */
export interface BloomCopyLease {
  readonly isLeased: boolean;
  /** Why it is not, as a sentence; undefined while it is. */
  readonly reason: string | undefined;
  /** The reason in a word; undefined while it is leased. */
  readonly cause: BloomUnleasedCause | undefined;
  readonly since: Date;
  /** Entries of the feed that are known to have been written and have not been applied to the copy. */
  readonly behind: number;
}
