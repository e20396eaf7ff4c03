// What the server sends and the page draws. The page is checked against it, and has no other file of the
// server.

export type State = 'unbuilt' | 'ready' | 'lost' | 'suspect';
export type Mode = 'on' | 'shadow' | 'off';

/** A moment, in milliseconds since 1970. */
export type Moment = number;

/** Sums over all instances that report. Rates are per second. */
export interface FilterRow {
  readonly name: string;
  /** `unavailable`: the store cannot be asked how the filter stands. */
  readonly state: State | 'unavailable' | undefined;
  /** When the state became this one, if this process has seen it. */
  readonly stateSince: Moment | undefined;
  /** When the attack began that this process sees; undefined without one. */
  readonly attackSince: Moment | undefined;
  readonly mode: Mode;
  /** What an operator has set for all instances. */
  readonly sharedMode: { readonly mode: Mode; readonly by: string; readonly at: Moment } | undefined;
  readonly store: string | undefined;
  readonly layout: string | undefined;
  /** Undefined until two reports of an instance can be compared. */
  readonly lookupsPerSecond: number | undefined;
  readonly blockedPerSecond: number | undefined;
  /** Guarded calls of the last minutes that were answered without the method. */
  readonly savedShare: number | undefined;
  readonly falsePositives: {
    /** Lookups of ids without a row in the last minutes that were let through. */
    readonly observed: number | undefined;
    readonly modelled: number | undefined;
    /** The error rate of the options. */
    readonly wanted: number | undefined;
  };
  readonly fill: { readonly count: number; readonly capacity: number; readonly bytes: number } | undefined;
  /** Null: never; undefined: not known. */
  readonly builtAt: Moment | null | undefined;
  readonly nextRunAt: Moment | undefined;
  readonly instances: readonly InstanceDot[];
  /** Readings with leases; undefined where no instance has any. */
  readonly copies: CopiesRow | undefined;
  readonly outside: OutsideRow | undefined;
  readonly running: RunningRebuild | undefined;
  readonly advice: readonly string[];
  /** Whether figures of the other instances are missing, since the store cannot be asked. */
  readonly isAlone: boolean;
}

export interface InstanceDot {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly state: State | undefined;
  readonly isCircuitOpen: boolean;
}

export interface RunningRebuild {
  readonly host: string;
  readonly pid: number;
  readonly startedAt: Moment;
  readonly phase: string | undefined;
  readonly idsRead: number;
  readonly share: number | undefined;
  readonly remainingMs: number | undefined;
}

/** How many instances answer "absent" from their copies, and what that costs adds. */
export interface CopiesRow {
  readonly leased: number;
  readonly all: number;
  /** Why the others do not. */
  readonly causes: readonly string[];
  /** Adds that waited for copies. */
  readonly waitsPerSecond: number | undefined;
  /** How long one of them waited, on average. */
  readonly waitMs: number | undefined;
}

/** What is done for rows that others write. Counts are those of all instances since each of them started. */
export interface OutsideRow {
  /** Instances that follow: one, unless none can. */
  readonly following: number;
  readonly addedPerSecond: number | undefined;
  readonly failures: number;
  readonly gaps: number;
  /** State of the feed; undefined where none runs. */
  readonly behindBytes: number | undefined;
}

/** The filter that the page shows in full. */
export interface FilterDetail {
  readonly name: string;
  readonly methods: readonly MethodRow[];
  readonly unknowns: readonly {
    readonly reason: string;
    readonly count: number;
    readonly perSecond: number;
  }[];
  readonly instances: readonly InstanceRow[];
  /** The latest first. */
  readonly rebuilds: readonly RebuildRow[];
}

/** Counts are those of all instances since each of them started. */
export interface MethodRow {
  readonly method: string;
  readonly perSecond: number;
  readonly absent: number;
  readonly maybe: number;
  readonly unknown: number;
  readonly remembered: number;
  readonly saved: number;
  readonly foundNothing: number;
}

export interface InstanceRow extends InstanceDot {
  readonly startedAt: Moment;
  readonly seenAt: Moment;
  readonly mode: Mode;
  readonly lookupsPerSecond: number | undefined;
  /** Lookups that the copy in the process answered. */
  readonly localShare: number | undefined;
  readonly queuedAdds: number;
  /** `leased`, or why the copy of the process is not; undefined without leases. */
  readonly copy: string | undefined;
}

export interface RebuildRow {
  readonly outcome: 'published' | 'skipped' | 'failed' | 'stopped';
  readonly startedAt: Moment;
  readonly durationMs: number;
  readonly host: string;
  readonly pid: number;
  readonly phases: readonly { readonly phase: string; readonly durationMs: number }[];
  readonly ids: number | undefined;
  readonly reason: string | undefined;
}

/**
 * One point of each chart; a figure is null where nothing was observed. Rates in a second, latencies the 95th
 * percentile in milliseconds.
 */
export interface Point {
  readonly at: Moment;
  readonly absent: number | null;
  readonly maybe: number | null;
  readonly unknown: number | null;
  readonly remembered: number | null;
  readonly saved: number | null;
  readonly local: number | null;
  readonly remote: number | null;
  readonly add: number | null;
}

export interface EventLine {
  /** Grows with each. */
  readonly number: number;
  readonly at: Moment;
  readonly type: string;
  /** Address at which the type, or the advice, is explained. */
  readonly help: string;
  readonly filter: string | undefined;
  readonly level: 'log' | 'warn' | 'error';
  /** Without ids, and without texts of errors that may quote one. */
  readonly text: string;
}

export interface SeriesView {
  readonly name: string;
  readonly unit: string;
}

export interface ActionView {
  readonly name: string;
  readonly description: string | undefined;
  readonly isRunning: boolean;
  /** How the last run ended. */
  readonly outcome: { readonly at: Moment; readonly text: string; readonly isError: boolean } | undefined;
}

/** Sent when the page opens, and again when it could not follow: all that was. */
export interface Backlog {
  readonly canAct: boolean;
  /** Points of the filter that the page shows in full, the earliest first. */
  readonly points: readonly Point[];
  /** Blocked lookups in a second, of each filter. */
  readonly sparks: Readonly<Record<string, readonly (number | null)[]>>;
  readonly series: readonly SeriesView[];
  readonly seriesPoints: readonly SeriesPoint[];
  readonly events: readonly EventLine[];
}

/** The figures of the application, in the order of its series. */
export interface SeriesPoint {
  readonly at: Moment;
  readonly values: readonly (number | null)[];
}

/** Sent about once a second: all that is, and what is new. */
export interface Tick {
  readonly at: Moment;
  readonly filters: readonly FilterRow[];
  /** Undefined where the application has no filter. */
  readonly detail: FilterDetail | undefined;
  readonly point: Point | undefined;
  readonly seriesPoint: SeriesPoint | undefined;
  readonly actions: readonly ActionView[];
  readonly events: readonly EventLine[];
}
