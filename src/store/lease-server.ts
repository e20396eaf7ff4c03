import type { Generation } from '../filter/index.js';

/**
 * Grants a process the right to answer "absent" from its copy of a filter. Adds wait until every process with
 * a lease has acknowledged their entry in the feed, or its lease is over. The protocol and its proof are in
 * docs/internals/design-leased-copies.md.
 */
export interface LeaseServer {
  /** Names the server that answers, as far as the connection tells. Another one may have fewer ids. */
  readonly server: string;

  /**
   * Asks for a lease, or renews one. Blocks that are read after the reply have all that is in entries up to
   * its number.
   *
   * Without `held`, a new reader takes the place of the former one: no add waits for that one any longer, and
   * what was sent for it and arrives late (an acknowledgement, a `leave`, an add of this process) changes
   * nothing for the new one. An add of this process may count as acknowledged by the reader it names: the
   * copy has its ids before the add is sent.
   *
   * @param held what the copy has; undefined: there is none yet.
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
   * Says that the announced staging need not wait for this process: it has a copy of that, or will have none.
   *
   * @throws {BloomUnavailableError} when the store cannot be asked.
   */
  ready(tag: Generation['tag']): Promise<void>;

  /**
   * Gives the lease back: no add waits for this process any longer, whose copy is not proven any more. Never
   * rejects.
   */
  leave(): Promise<void>;

  /**
   * Calls the listener with the entries after a number, in order, until it is stopped or called again.
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
      /** Tag of the announced staging: it may be copied. Entries after `number` have its places. */
      readonly announced?: Generation['tag'] | undefined;
    }
  /** Nothing is live, or it changes at this moment. */
  | { readonly outcome: 'not-live' }
  /** This server has no leases for this process; what to do. */
  | { readonly outcome: 'refused'; readonly reason: string };

export interface FeedListener {
  /**
   * Entries with consecutive numbers, unless some were lost: what is missing shows in `number`. Messages
   * (`isMessage`) may come in any order, several times, or not at all. An entry that did not come as a
   * message comes from the stream.
   */
  onEntries(entries: readonly FeedEntry[]): void;
}

export interface FeedEntry {
  readonly list: string;
  readonly number: number;
  /** Tag of the generation that is live after it. */
  readonly tag: Generation['tag'];
  /** For each id that was added, its block and its seed in that generation; undefined: it was swapped in. */
  readonly places: Uint32Array | undefined;
  /**
   * Tag of the announced staging, if there is one; in the entry of a swap, that of the staging that went
   * live.
   */
  readonly staged?: Generation['tag'] | undefined;
  /** The ids in the announced staging, those that are live already too. */
  readonly stagedPlaces?: Uint32Array | undefined;
  /** Whether it came as a message: entries before it may come later. */
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
  /** Whether this process answers "absent" from its copy. */
  readonly isLeased: boolean;
  /** Why it is not, as a sentence; undefined while it is. */
  readonly reason: string | undefined;
  /** The reason in a word; undefined while it is leased. */
  readonly cause: BloomUnleasedCause | undefined;
  /** When that began. */
  readonly since: Date;
  /** Entries of the feed that are known to have been written and have not been applied to the copy. */
  readonly behind: number;
}
