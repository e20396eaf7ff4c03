import type { Ground } from './ground.js';

export type Operation =
  | { readonly type: 'add' | 'peer add'; readonly ids: readonly string[] }
  | { readonly type: 'commit' | 'roll back'; readonly ids: readonly string[] }
  | { readonly type: 'check'; readonly ids: readonly string[]; readonly how: 'guard' | 'together' | 'bulk' }
  | { readonly type: 'rebuild' | 'reset' }
  | {
      readonly type: 'rest';
      readonly ms: number;
      /** Shorter when a staging is announced. */
      readonly untilAnnounced?: boolean;
    };

export interface ActorPlan {
  readonly instance: number;
  readonly operations: readonly Operation[];
}

export type Fault =
  | 'lease-gone'
  | 'pause'
  | 'pause-before-swap'
  | 'pause-before-grow'
  | 'kill'
  | 'meta-gone'
  | 'live-gone'
  | 'live-zeros'
  | 'live-cut'
  | 'live-cut-byte'
  | 'settings-other'
  | 'copy-live'
  | 'put-back'
  | 'staging-gone'
  | 'all-gone'
  | 'reply-lost'
  | 'late'
  /** A swap that was given up reaches the server after an add that its staging lacks. */
  | 'late-swap'
  | 'twice'
  | 'snapshot'
  | 'restart'
  | LeasedFault;

/** What strikes readers that answer "absent" from their copies. */
export type LeasedFault =
  | 'readers-gone'
  | 'feed-gone'
  | 'feed-trimmed'
  | 'feed-cut'
  /** A process stands still for longer than a lease, and its lookups with it. */
  | 'stop'
  /** The same, and its monotonic clock does not count the time. */
  | 'suspend'
  | 'wall-clock-back'
  /** A process stands still for longer than a lease, and its wall clock is set back by half of one. */
  | 'stop-set-back'
  | 'server-clock-forward'
  | 'server-clock-back'
  | 'kill-any'
  | 'restart-empty'
  | 'restart-trusted'
  /**
   * A snapshot is taken, and the reply of the next add is lost: nobody will have acknowledged what the
   * snapshot lacks.
   */
  | 'snapshot-lacks-add'
  /**
   * The server restarts, trusted, from a snapshot of before the first lease, and a reader hears of it a lease
   * later.
   */
  | 'restart-forgetful'
  /** While a staging is announced. */
  | 'announcer-killed'
  | 'live-gone-announced'
  /** The server announces a staging, at once or later, and its rebuild does not wait for readers. */
  | 'announcement-late'
  | 'announcement-lost'
  /** The same when a reader has copied a staging whose rebuild then dies, and of the next rebuild. */
  | 'announcer-killed-copied'
  /** The same, and the reader stands still. */
  | 'live-gone-copied'
  | 'announcement-lost-next';

export interface InstancePlan {
  readonly capacity: number;
  readonly pageSize: number;
  readonly single: boolean;
  readonly counts: boolean;
  readonly hasReplica: boolean;
  readonly shares: boolean;
  /** Whether the process spells ids otherwise than the filter that stands there. */
  readonly spellsOtherwise?: boolean;
  /** Whether ids are numbers, but for a few. */
  readonly isNumbered?: boolean;
  /** Whether the source reads them in their order too. */
  readonly isOrdered?: boolean;
}

export interface LeasedPlan {
  readonly leaseMs: number;
  /** Whether the data of a server that restarted are believed. */
  readonly isTrusted: boolean;
  /** Share of commands whose replies are on their way for a while. */
  readonly lateReplies: number;
}

/** All that happens in one schedule, but for the order. */
export interface Scenario {
  readonly seed: number;
  readonly hasSource: boolean;
  readonly instances: readonly InstancePlan[];
  readonly actors: readonly ActorPlan[];
  readonly faults: readonly Fault[];
  /** Whether the filter has been live for longer than rows are on their way. */
  readonly isSettled: boolean;
  /** How readily the longest drain passes. */
  readonly leapWeight: number;
  /** Share of commands that are slow. */
  readonly slowShare: number;
  ground(filterName: string): Ground;
  /**
   * Where processes answer "absent" from their copies. Time passes there by clocks that run apart, and timers
   * wait for it.
   */
  readonly leased?: LeasedPlan;
}

export const KEY_PREFIX = 'explore';
/** Rows that are there before anything happens. */
export const OLD_ROWS: readonly string[] = ['c', 'f'];
/** What processes add. */
export const NEW_IDS: readonly string[] = ['a', 'b', 'd', 'e', 'g'];
