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

/** How many absent ids a client has asked for in this minute and the last one: `absents` at most, and `error` fewer at least. */
export interface BloomClientAbsents {
  /** As the option `attack.client` names it; its hash, if that is longer than 64 characters. */
  readonly client: string;
  readonly absents: number;
  readonly error: number;
}

/** Everything the library does automatically or swallows is reported as one of these. `part`: of a partitioned filter, which part it is about. */
export type BloomEvent = BloomEventDetails & { part?: number };

/** What an event says beside that. */
export type BloomEventDetails =
  /** A store operation failed and was answered with `unknown`, or is tried again. */
  | { type: 'store-error'; filter: string; operation: string; error: unknown }
  /** The connection to the store reported an error. */
  | { type: 'connection-error'; error: unknown }
  /** The last lookups failed: the next ones are `unknown` at once, except for one now and then to see whether Redis is back. */
  | { type: 'circuit-opened'; error: unknown; node?: string }
  /** Redis answers again. `rejected`: lookups that were not sent in the meantime. `node` of both: the master of a cluster, of which each is apart. */
  | { type: 'circuit-closed'; rejected: number; node?: string }
  /**
   * A lookup used a value that cannot be an id; of a guarded method, which is `method`. It was let through unguarded, unless it is `answered`:
   * as `onInvalid` of the guard says. Or `method` records ids, and its client was answered with a 400.
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
   * Absent ids are asked for in a number that is not usual: `rate` a second since `since`, of which most by `method`, which is `share` (0 to 1) of all
   * lookups that guards of this process have seen. `clients`: the worst of the last minute, where the option `attack.client` is set.
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
  /** At start: the filter does not protect yet. `isBuilt`: a build of it is due, in this process or in another one. */
  | { type: 'not-ready'; filter: string; state: BloomFilterState; isBuilt: boolean }
  /** The filter went offline, or came to life. */
  | { type: 'state-changed'; filter: string; state: BloomFilterState; reason: string }
  /**
   * The guarded method found something for an id that was answered "absent": seen by the audit or in shadow
   * mode. `wrongAbsents` of the `absents` that this process has seen were such. `distrusted`: the filter goes
   * offline and is rebuilt. `guardOff`: no rebuild helps, so the guard of `method` lets every call through in
   * this process until that starts again.
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
   * The filter holds more ids than planned, so more absent ids pass than asked for: reported with the add that passes the capacity, twice it,
   * four times it and so on, and every minute. It is rebuilt if it has a source, at once where `count()` says that the source has outgrown
   * the plan, else after a pause.
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
   * `ids` that were new to the filter were added by this process for calls that then failed, the last one of `method`: a tenth of the capacity or more since the filter was
   * built, reported once for each build. They have no row, and lookups of them pass until the next rebuild.
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
   * Adds of this process waited for half a lease or longer, `times` in the last minute, `ms` in all: a process with a leased copy does not acknowledge them. At most once a minute.
   */
  | { type: 'adds-delayed'; filter: string; times: number; ms: number }
  /** The stored filter belongs to the application `found`, and this one is `owner`: it is `unknown` here, and is left alone. */
  | { type: 'other-owner'; filter: string; owner: string; found: string; error: unknown }
  /** A filter at `key` that no application had claimed now belongs to this one, `owner`. It is `suspect` until it has been rebuilt. */
  | { type: 'filter-claimed'; filter: string; owner: string; key: string }
  /** The stored filter was written by a newer version of this library; it is left alone. */
  | { type: 'newer-format'; filter: string; found: string; supported: string }
  /**
   * The stored filter is divided into `found` parts (0: it is not divided), and this process was told `partitions`: it is `unknown` here, and is left
   * alone.
   */
  | { type: 'other-partitions'; filter: string; partitions: number; found: number; error: unknown }
  /** `waitMs`: before the source is read, for rows whose ids were added before and that are not visible yet (`drainMs`). */
  | {
      type: 'rebuild-started';
      filter: string;
      capacity: number;
      bytes: number;
      waitMs: number;
      /** How often the source is read, if more than once: the filter takes more memory than `rebuild.memoryMiB`. */
      passes?: number;
    }
  | { type: 'rebuild-progress'; filter: string; progress: BloomRebuildProgress }
  /** More ids than planned: the run starts again with a larger plan. */
  | { type: 'rebuild-replanned'; filter: string; capacity: number; idsRead: number }
  /** `count()` of the source threw, or gave what cannot be a number of ids: the build is planned without it. */
  | { type: 'count-ignored'; filter: string; error: unknown }
  /** Something failed in the source, such as the query of a page, and it tries again. */
  | { type: 'source-retried'; filter: string; error: unknown }
  /** The definition has no `normalize`, and the source has chosen the one of this name for its `column`. */
  | { type: 'normalize-chosen'; filter: string; normalize: string; column: string }
  /** Ids of the source that cannot be added were left out of a build; `example` is the first one, shortened and escaped. */
  | { type: 'ids-skipped'; filter: string; skipped: number; example: string; error: unknown }
  /** `ids` were read from the source, and `distinctIds` is about how many different ones they are. */
  | { type: 'rebuild-finished'; filter: string; ids: number; distinctIds: number; durationMs: number }
  | { type: 'rebuild-skipped'; filter: string; reason: string }
  | { type: 'rebuild-failed'; filter: string; error: unknown }
  /** Something that only frees memory failed; the keys expire. */
  | { type: 'clean-up-failed'; filter: string; error: unknown }
  /**
   * The mode that is set for all processes has reached this one: `by` whom and when it was set. `withdrawn`: there is none any more, and `mode` is the
   * process's own.
   */
  | {
      type: 'mode-changed';
      filter: string;
      mode: 'on' | 'shadow' | 'off';
      by: string;
      at: Date;
      withdrawn?: true;
    }
  /** What is new in the source could not be read or added (`topUp`), or a rebuild could not set the mark. It is tried again, by this process or another one. */
  | { type: 'top-up-failed'; filter: string; error: unknown }
  /**
   * The mark of `topUp` cannot be believed any more: the source has no row as late as it, or gives ids of
   * another kind, or a rebuild has found rows up to it that the filter lacked. It was moved back, to `to`:
   * the last row there is, or, of integers, 10,000 before it. Without `to` there is none until the next
   * rebuild has set one, and with `topUp.ordered` each id that the filter does not have is `unknown` until
   * then; after rows were missing, until a later rebuild finds none.
   */
  | { type: 'mark-moved-back'; filter: string; mark: string; to: string | undefined; reason: string }
  /** A feed ended, or could not begin. It is tried again, by this process or another one. */
  | { type: 'feed-failed'; filter: string; error: unknown }
  /** A feed may have missed rows. The filter is rebuilt; until that rebuild is live, ids of such rows may be answered "absent". */
  | { type: 'feed-gap'; filter: string; reason: string }
  /** An id could not be recorded; it is answered "maybe" by this process until it is. */
  | { type: 'add-queued'; filter: string; queued: number; error: unknown }
  /**
   * A guarded method ran unguarded because its filter is not registered in this application; or because the function that names the filter gave no name, which is the
   * `error`.
   */
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
