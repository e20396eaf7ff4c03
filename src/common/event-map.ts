import type {
  BloomClientAbsents,
  BloomEventError,
  BloomFilterState,
  BloomRebuildProgress,
} from './event-values.js';

/** Everything the library does automatically or swallows: what each event says beside `type` and `filter`. */
export interface BloomEventMap {
  /** A store operation failed and was answered with `unknown`, or is tried again. */
  'store-error': {
    /** What failed. */
    operation: string;
    /** What was thrown. */
    error: unknown;
  };
  /** The connection to the store reported an error. */
  'connection-error': BloomEventError;
  /** The last lookups failed: the next ones are `unknown` at once, except for one now and then. */
  'circuit-opened': {
    /** What was thrown. */
    error: unknown;
    /** The primary of a cluster. */
    node?: string;
  };
  /** Redis answers again. */
  'circuit-closed': {
    /** Lookups that were not sent. */
    rejected: number;
    /** The primary of a cluster. */
    node?: string;
  };
  /**
   * A lookup used a value that cannot be an id. It passed unguarded, unless it is `answered`; or `method`
   * records ids, and its client got a 400.
   */
  'invalid-id': {
    /** What was thrown. */
    error: unknown;
    /** The guarded method, if it was one. */
    method?: string;
    /** It was answered, as `onInvalid` says. */
    answered?: true;
  };
  /** A function of a guard's options failed, or returned what it must not; the call went on without it. */
  'guard-error': {
    /** The guarded method. */
    method: string;
    /** The option. */
    operation: 'id' | 'isFound' | 'coalesce.key' | 'key' | 'client' | 'early';
    /** What was thrown. */
    error: unknown;
  };
  /** Absent ids are asked for unusually often. */
  'attack-started': {
    /** The method that is asked for most of them. */
    method: string | undefined;
    /** Lookups of absent ids, a second, since `since`. */
    rate: number;
    /** Their share of all guarded lookups, 0 to 1. */
    share: number;
    /** Their rate before. */
    usualRate: number;
    /** When it began. */
    since: Date;
    /** The worst of the last minute, with `attack.client`. */
    clients: readonly BloomClientAbsents[];
  };
  /** It is over. */
  'attack-ended': {
    /** The method that was asked for most of them. */
    method: string | undefined;
    /** How long it went on. */
    durationMs: number;
    /** Lookups of absent ids in that time. */
    absents: number;
    /** The most in a second. */
    peakRate: number;
    /** The worst of the last minute, with `attack.client`. */
    clients: readonly BloomClientAbsents[];
  };
  /** Calls that the filter cannot judge are refused: `limit` of them run, and others wait (`onUnknown`). */
  'overload-started': {
    /** How many may run at once. */
    limit: number;
  };
  /** No call was refused for five seconds. */
  'overload-ended': {
    /** How long it went on before that. */
    durationMs: number;
    /** Calls refused in that time. */
    refused: number;
    /** Calls that ran in that time. */
    passed: number;
  };
  /** At start: the filter does not protect yet. */
  'not-ready': {
    /** How it stands. */
    state: BloomFilterState;
    /** Whether a build is due, in this process or another one. */
    isBuilt: boolean;
  };
  /** The filter went offline, or came to life. */
  'state-changed': {
    /** How it stands now. */
    state: BloomFilterState;
    /** Why. */
    reason: string;
  };
  /** The guarded method found something for an id that was answered "absent": a false negative. */
  'wrong-absent': {
    /** The id. */
    id: string | number | bigint | Uint8Array;
    /** The guarded method. */
    method: string;
    /** False negatives in this process. */
    wrongAbsents: number;
    /** All "absent" answers that were compared in this process. */
    absents: number;
    /** The filter goes offline and is rebuilt. */
    distrusted: boolean;
    /** No rebuild helps: the guard of `method` lets every call through until this process starts again. */
    guardOff?: true;
  };
  /**
   * The filter holds more ids than planned, so more absent ids pass: reported at the capacity and each power
   * of two of it, and every minute. A filter with a source is rebuilt, at once if `count()` exceeds the plan,
   * else after a pause.
   */
  overfull: {
    /** Ids in it. */
    count: number;
    /** Ids that it is planned for. */
    capacity: number;
    /** Share of absent ids that pass. */
    modelledErrorRate: number;
    /** What becomes of the filter, or what to do, as a sentence for people. */
    remedy: string;
  };
  /**
   * This process added new ids for calls that then failed, a tenth of the capacity or more since the last
   * build. They have no row, and pass until the next rebuild. Reported once for each build.
   */
  'failed-adds': {
    /** How many. */
    ids: number;
    /** Ids that the filter is planned for. */
    capacity: number;
    /** The method that failed. */
    method: string;
  };
  /** Something about the setup that endangers the filter. */
  advice: {
    /** What it is, and what to do about it. */
    text: string;
    /** The text without an id, where it contains one. */
    withoutId?: string;
  };
  /** This process answers lookups of absent ids from its copy (`replica: 'leased'`). */
  'copy-leased': {};
  /** It asks the store for them again, until the copy is leased again. */
  'copy-unleased': {
    /** Why. */
    reason: string;
  };
  /** Adds of this process waited for half a lease or longer, for a process with a leased copy. */
  'adds-delayed': {
    /** How many, in the last minute. */
    times: number;
    /** For how long in all. */
    ms: number;
  };
  /** The stored filter belongs to the application `found`: it is `unknown` here, and left alone. */
  'other-owner': {
    /** This application. */
    owner: string;
    /** The other one. */
    found: string;
    /** As an error. */
    error: unknown;
  };
  /** A filter without an owner now belongs to this application. It is `suspect` until rebuilt. */
  'filter-claimed': {
    /** This application. */
    owner: string;
    /** The filter's key. */
    key: string;
  };
  /** The stored filter was written by a newer version of this library; it is left alone. */
  'newer-format': {
    /** Its format. */
    found: string;
    /** The latest that is known here. */
    supported: string;
  };
  /** The stored filter has another number of partitions: it is `unknown` here, and left alone. */
  'other-partitions': {
    /** The option. */
    partitions: number;
    /** How many it has; 0: none. */
    found: number;
    /** As an error. */
    error: unknown;
  };
  /** A rebuild has begun. */
  'rebuild-started': {
    /** Ids that it is planned for. */
    capacity: number;
    /** Its size. */
    bytes: number;
    /** Wait before the source is read, for rows whose ids were added before (`drainMs`). */
    waitMs: number;
    /** How often the source is read, if more than once, for `rebuild.memoryMiB`. */
    passes?: number;
  };
  /** A rebuild goes on. */
  'rebuild-progress': {
    /** How far it has come. */
    progress: BloomRebuildProgress;
  };
  /** More ids than planned: the run starts again with a larger plan. */
  'rebuild-replanned': {
    /** The new plan. */
    capacity: number;
    /** Ids read so far. */
    idsRead: number;
  };
  /** `count()`, `idsSince()` or `newest()` of the source threw, or is wrong: the build is planned without. */
  'count-ignored': BloomEventError;
  /** Something failed in the source, such as the query of a page, and it tries again. */
  'source-retried': BloomEventError;
  /** The definition has no `normalize`, and the source has chosen one. */
  'normalize-chosen': {
    /** Its name. */
    normalize: string;
    /** The column it is for. */
    column: string;
  };
  /** Ids of the source that cannot be added were left out. */
  'ids-skipped': {
    /** How many. */
    skipped: number;
    /** The first one, shortened and escaped. */
    example: string;
    /** What is wrong with it. */
    error: unknown;
  };
  /** A rebuild is live. */
  'rebuild-finished': {
    /** Ids read from the source. */
    ids: number;
    /** About how many different ones they are. */
    distinctIds: number;
    /** How long it took. */
    durationMs: number;
  };
  /** A rebuild did not take place. */
  'rebuild-skipped': {
    /** Why. */
    reason: string;
  };
  /** A rebuild failed: the filter that was live before is still live. */
  'rebuild-failed': BloomEventError;
  /** Something that only frees memory failed; the keys expire. */
  'clean-up-failed': BloomEventError;
  /** A mode for all processes has reached this one. */
  'mode-changed': {
    /** The mode; where it was `withdrawn`, that of this process. */
    mode: 'on' | 'shadow' | 'off';
    /** The operator or program that set it. */
    by: string;
    /** When. */
    at: Date;
    /** It was removed. */
    withdrawn?: true;
  };
  /** New rows could not be read or added (`topUp`), or a rebuild set no mark. It is tried again. */
  'top-up-failed': BloomEventError;
  /**
   * The mark of `topUp` is not valid any more: the source has no row as late, or gives ids of another kind,
   * or the filter lacked rows up to it. With `coverage` absent ids are `unknown` until a rebuild sets one,
   * and after missing rows until a later rebuild finds none.
   */
  'mark-moved-back': {
    /** The mark before. */
    mark: string;
    /** The mark now: the last row, or 10,000 integers before it. Undefined: none until a rebuild sets one. */
    to: string | undefined;
    /** Why. */
    reason: string;
  };
  /** A feed ended, or could not begin. It is tried again, by this process or another one. */
  'feed-failed': BloomEventError;
  /** A feed may have missed rows, whose ids may be "absent" until the rebuild that follows is live. */
  'feed-gap': {
    /** Why. */
    reason: string;
  };
  /** An id could not be recorded; it is answered "maybe" by this process until it is. */
  'add-queued': {
    /** Ids that wait. */
    queued: number;
    /** What was thrown. */
    error: unknown;
  };
  /** A guarded method ran unguarded: its filter is not registered, or its function gave no name (`error`). */
  'filter-missing': {
    /** The guarded method. */
    method: string;
    /** What was thrown. */
    error?: unknown;
  };
}
