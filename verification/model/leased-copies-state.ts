export interface Copy {
  readonly generation: number;
  readonly hasId: boolean;
  /** Entries of its feed that it has applied. */
  readonly applied: number;
  readonly feed: number;
  readonly isLoading: boolean;
}

/** A copy of an announced staging, which takes the place of the reader's copy when that staging goes live. */
export interface NextCopy {
  /** Which staging it is of. */
  readonly staging: number;
  readonly hasId: boolean;
  readonly isLoading: boolean;
}

/** An add, a swap, or an add of another id. */
export interface Entry {
  readonly generation: number;
  readonly isAdd: boolean;
  /**
   * For an add: the announced staging in which its id is as well. For a swap: the announced staging that went
   * live.
   */
  readonly staging: number | undefined;
}

/**
 * A lease that the server has granted: `before` has a bit for each wait that began after the grant and has
 * not ended.
 */
export interface Grant {
  readonly before: number;
}

export interface Reader {
  readonly copy: Copy | undefined;
  readonly next: NextCopy | undefined;
  /** Undefined while it does not believe in its copy. */
  readonly belief: Grant | undefined;
  /** A reply on its way, with the number of the feed. */
  readonly renewal: (Grant & { readonly number: number }) | undefined;
  /** What the list says that it has acknowledged; undefined when it is not on the list. */
  readonly acknowledged: number | undefined;
}

export interface Wait {
  /** `sight`: a whole lease since the process first saw that the metadata know of no lease. */
  readonly for: 'nothing' | 'readers' | 'lease' | 'sight';
  readonly entry: number;
  readonly list: number;
  readonly feed: number;
}

export interface Adder {
  readonly at: 'start' | 'waiting' | 'acknowledged' | 'committed';
  readonly wait: Wait;
  /** Whether the id is in the present staging through this add. */
  readonly isStaged: boolean;
  /** Whether a `reset()` has dropped the id. */
  readonly isDropped: boolean;
  /** Whether its process has seen that the metadata of what is live know of no lease. */
  readonly hasSeen: boolean;
}

export interface Build {
  readonly at: 'start' | 'staged' | 'scanned' | 'waiting' | 'ended';
  readonly wait: Wait;
  /** Whether the source has returned a row with the id. */
  readonly hasRow: boolean;
  readonly runsLeft: number;
  /** As that of an adder. */
  readonly hasSeen: boolean;
}

export interface Live {
  readonly generation: number;
  readonly hasId: boolean;
  /** As which staging it was made. */
  readonly staging: number;
}

export interface State {
  readonly live: Live | undefined;
  /** Whether the published staging has the id; undefined where there is none. */
  readonly staging: boolean | undefined;
  /** Whether readers may make copies of the staging: each add is an entry for them too. */
  readonly isAnnounced: boolean;
  readonly feed: number;
  readonly entries: readonly Entry[];
  /** Entries before this one are gone. */
  readonly trimmed: number;
  readonly list: number;
  /** Whether the list is known to lack readers with a lease. */
  readonly isListLost: boolean;
  /** Whether a lease may be out, as the metadata say. */
  readonly isLeaseOut: boolean;
  /**
   * Whether the metadata know of no lease though some may be out: what is live came with them, or was swapped
   * in since.
   */
  readonly unknown: 'no' | 'restored' | 'swapped';
  readonly readers: readonly Reader[];
  readonly adders: readonly Adder[];
  readonly build: Build;
  /** The row came to the database past the application. */
  readonly isImported: boolean;
  /** A row with the id was in a generation whose commit was acknowledged. */
  readonly isRowLive: boolean;
  readonly left: { readonly losses: number; readonly others: number };
}

/** Bits of `before`; two for each adder follow. */
export const COMMIT = 1;
export const STAGING = 2;
export const SIGHT = 4;
export const bitOfAdder = (i: number) => 8 << (2 * i);
export const sightOfAdder = (i: number) => 16 << (2 * i);
