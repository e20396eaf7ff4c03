/** How a filter stands. Only `ready` gives other verdicts than `unknown`. */
export type BloomFilterState =
  /** Never built. */
  | 'unbuilt'
  /** Answers. */
  | 'ready'
  /** Its keys are gone or damaged. */
  | 'lost'
  /** The server restarted or failed over and may have lost adds that it had acknowledged. */
  | 'suspect';

/** How far a rebuild has come. */
export interface BloomRebuildProgress {
  readonly phase: 'staging' | 'draining' | 'scanning' | 'merging' | 'verifying' | 'swapping';
  readonly idsRead: number;
  readonly idsPerSecond: number;
  /** 0 to 1 of the scan; undefined while the number of ids is not known. */
  readonly share: number | undefined;
  /** Time the scan still needs at its present rate; undefined while it is not known. */
  readonly remainingMs: number | undefined;
}

/** Absent ids of a client in this minute and the last one: `absents` at most, and `error` fewer at least. */
export interface BloomClientAbsents {
  /** As the option `attack.client` names it; its hash, if that is longer than 64 characters. */
  readonly client: string;
  readonly absents: number;
  readonly error: number;
}

/** Everything the library does automatically or swallows. `part`: the part of a partitioned filter. */
export type BloomEvent = BloomEventDetails & { part?: number };

/** What an event says beside that. */
export type BloomEventDetails =
  /** A store operation failed and was answered with `unknown`, or is tried again. */
  | { type: 'store-error'; filter: string; operation: string; error: unknown }
  /** The connection to the store reported an error. */
  | { type: 'connection-error'; error: unknown }
  /** The last lookups failed: the next ones are `unknown` at once, except for one now and then. */
  | { type: 'circuit-opened'; error: unknown; node?: string }
  /** Redis answers again; `rejected` lookups were not sent. `node` of both: the primary of a cluster. */
  | { type: 'circuit-closed'; rejected: number; node?: string }
  /**
   * A lookup, of the guarded `method` if given, used a value that cannot be an id. It passed unguarded,
   * unless it is `answered`, as `onInvalid` says; or `method` records ids, and its client got a 400.
   */
  | { type: 'invalid-id'; filter: string; error: unknown; method?: string; answered?: true }
  /** A function of a guard's options failed, or returned what it must not; the call went on without it. */
  | {
      type: 'guard-error';
      filter: string;
      method: string;
      operation: 'id' | 'isFound' | 'coalesce.key' | 'key' | 'client';
      error: unknown;
    }
  /**
   * Absent ids are asked for unusually often: `rate` a second since `since`, most of them by `method`, and
   * `share` (0 to 1) of all guarded lookups. `clients`: the worst of the last minute, with `attack.client`.
   */
  | {
      type: 'attack-started';
      filter: string;
      method: string | undefined;
      rate: number;
      share: number;
      usualRate: number;
      since: Date;
      clients: readonly BloomClientAbsents[];
    }
  /** It is over: there were `absents` lookups of absent ids in `durationMs`, at most `peakRate` a second. */
  | {
      type: 'attack-ended';
      filter: string;
      method: string | undefined;
      durationMs: number;
      absents: number;
      peakRate: number;
      clients: readonly BloomClientAbsents[];
    }
  /**
   * Calls that the filter cannot judge are refused: `limit` of them run, and others wait (`onUnknown`).
   */
  | { type: 'overload-started'; filter: string; limit: number }
  /**
   * No call was refused for five seconds: in `durationMs` before that, `refused` were, and `passed` others
   * ran.
   */
  | { type: 'overload-ended'; filter: string; durationMs: number; refused: number; passed: number }
  /** At start: the filter does not protect yet. `isBuilt`: a build is due, in this process or another one. */
  | { type: 'not-ready'; filter: string; state: BloomFilterState; isBuilt: boolean }
  /** The filter went offline, or came to life. */
  | { type: 'state-changed'; filter: string; state: BloomFilterState; reason: string }
  /**
   * The guarded method found something for an id that was answered "absent": a false negative, `wrongAbsents`
   * of `absents` in this process. `distrusted`: the filter goes offline and is rebuilt. `guardOff`: no
   * rebuild helps, so the guard of `method` lets every call through until this process starts again.
   */
  | {
      type: 'wrong-absent';
      filter: string;
      id: string | number | bigint | Uint8Array;
      method: string;
      wrongAbsents: number;
      absents: number;
      distrusted: boolean;
      guardOff?: true;
    }
  /**
   * The filter holds more ids than planned, so more absent ids pass: reported at the capacity and each power
   * of two of it, and every minute. A filter with a source is rebuilt, at once if `count()` exceeds the plan,
   * else after a pause.
   */
  | {
      type: 'overfull';
      filter: string;
      count: number;
      capacity: number;
      modelledErrorRate: number;
      /** What becomes of the filter, or what to do, as a sentence for people. */
      remedy: string;
    }
  /**
   * This process added `ids` new ids for calls that then failed, a tenth of the capacity or more since the
   * last build. They have no row, and pass until the next rebuild. Reported once for each build.
   */
  | { type: 'failed-adds'; filter: string; ids: number; capacity: number; method: string }
  /** Something about the setup that endangers the filter, and what to do about it. */
  | {
      type: 'advice';
      filter: string;
      text: string;
      /** The text without an id, where it contains one. */ withoutId?: string;
    }
  /** This process answers lookups of absent ids from its copy (`replica: 'leased'`). */
  | { type: 'copy-leased'; filter: string }
  /** It asks the store for them again, until the copy is leased again. */
  | { type: 'copy-unleased'; filter: string; reason: string }
  /**
   * Adds of this process waited for half a lease or longer, `times` in the last minute, `ms` in all, for a
   * process with a leased copy.
   */
  | { type: 'adds-delayed'; filter: string; times: number; ms: number }
  /** The stored filter belongs to the application `found`: it is `unknown` here, and left alone. */
  | { type: 'other-owner'; filter: string; owner: string; found: string; error: unknown }
  /** A filter at `key` without an owner now belongs to this application. It is `suspect` until rebuilt. */
  | { type: 'filter-claimed'; filter: string; owner: string; key: string }
  /** The stored filter was written by a newer version of this library; it is left alone. */
  | { type: 'newer-format'; filter: string; found: string; supported: string }
  /**
   * The stored filter has `found` partitions (0: none), not `partitions`: it is `unknown` here, and left
   * alone.
   */
  | { type: 'other-partitions'; filter: string; partitions: number; found: number; error: unknown }
  /** `waitMs`: wait before the source is read, for rows whose ids were added before (`drainMs`). */
  | {
      type: 'rebuild-started';
      filter: string;
      capacity: number;
      bytes: number;
      waitMs: number;
      /** How often the source is read, if more than once, for `rebuild.memoryMiB`. */
      passes?: number;
    }
  | { type: 'rebuild-progress'; filter: string; progress: BloomRebuildProgress }
  /** More ids than planned: the run starts again with a larger plan. */
  | { type: 'rebuild-replanned'; filter: string; capacity: number; idsRead: number }
  /** `count()`, `idsSince()` or `newest()` of the source threw, or is wrong: the build is planned without. */
  | { type: 'count-ignored'; filter: string; error: unknown }
  /** Something failed in the source, such as the query of a page, and it tries again. */
  | { type: 'source-retried'; filter: string; error: unknown }
  /** The definition has no `normalize`, and the source has chosen the one of this name for its `column`. */
  | { type: 'normalize-chosen'; filter: string; normalize: string; column: string }
  /**
   * Ids of the source that cannot be added were left out; `example` is the first one, shortened and escaped.
   */
  | { type: 'ids-skipped'; filter: string; skipped: number; example: string; error: unknown }
  /** `ids` were read from the source, and `distinctIds` is about how many different ones they are. */
  | { type: 'rebuild-finished'; filter: string; ids: number; distinctIds: number; durationMs: number }
  | { type: 'rebuild-skipped'; filter: string; reason: string }
  | { type: 'rebuild-failed'; filter: string; error: unknown }
  /** Something that only frees memory failed; the keys expire. */
  | { type: 'clean-up-failed'; filter: string; error: unknown }
  /**
   * A mode for all processes has reached this one. `withdrawn`: it was removed, and `mode` is the process's
   * own.
   */
  | {
      type: 'mode-changed';
      filter: string;
      mode: 'on' | 'shadow' | 'off';
      by: string;
      at: Date;
      withdrawn?: true;
    }
  /**
   * New rows could not be read or added (`topUp`), or a rebuild could not set the mark. It is tried again.
   */
  | { type: 'top-up-failed'; filter: string; error: unknown }
  /**
   * The mark of `topUp` is not valid any more: the source has no row as late, or gives ids of another kind,
   * or the filter lacked rows up to it. It is moved back to `to`: the last row, or 10,000 integers before it.
   * Without `to` there is none until a rebuild sets one; with `coverage` absent ids are `unknown` until
   * then, and after missing rows until a later rebuild finds none.
   */
  | { type: 'mark-moved-back'; filter: string; mark: string; to: string | undefined; reason: string }
  /** A feed ended, or could not begin. It is tried again, by this process or another one. */
  | { type: 'feed-failed'; filter: string; error: unknown }
  /**
   * A feed may have missed rows, whose ids may be answered "absent" until the rebuild that follows is live.
   */
  | { type: 'feed-gap'; filter: string; reason: string }
  /** An id could not be recorded; it is answered "maybe" by this process until it is. */
  | { type: 'add-queued'; filter: string; queued: number; error: unknown }
  /** A guarded method ran unguarded: its filter is not registered, or its function gave no name (`error`). */
  | { type: 'filter-missing'; filter: string; method: string; error?: unknown };

/** Called with every event, at once; what it throws is logged and goes no further. */
export type BloomEventListener = (event: BloomEvent) => void;

const TYPES = {
  'store-error': true,
  'connection-error': true,
  'circuit-opened': true,
  'circuit-closed': true,
  'invalid-id': true,
  'guard-error': true,
  'attack-started': true,
  'attack-ended': true,
  'overload-started': true,
  'overload-ended': true,
  'not-ready': true,
  'state-changed': true,
  'wrong-absent': true,
  overfull: true,
  'failed-adds': true,
  advice: true,
  'copy-leased': true,
  'copy-unleased': true,
  'adds-delayed': true,
  'other-owner': true,
  'filter-claimed': true,
  'newer-format': true,
  'other-partitions': true,
  'rebuild-started': true,
  'rebuild-progress': true,
  'rebuild-replanned': true,
  'count-ignored': true,
  'source-retried': true,
  'normalize-chosen': true,
  'ids-skipped': true,
  'rebuild-finished': true,
  'rebuild-skipped': true,
  'rebuild-failed': true,
  'clean-up-failed': true,
  'mode-changed': true,
  'top-up-failed': true,
  'mark-moved-back': true,
  'feed-failed': true,
  'feed-gap': true,
  'add-queued': true,
  'filter-missing': true,
} satisfies Record<BloomEvent['type'], true>;

/** The types of all events, in the order of the documentation. */
export const EVENT_TYPES = Object.keys(TYPES) as readonly BloomEvent['type'][];

export function isEventType(type: unknown): type is BloomEvent['type'] {
  return typeof type === 'string' && Object.hasOwn(TYPES, type);
}
