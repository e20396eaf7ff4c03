import type { BloomEvent } from '../common/index.js';
import type {
  BloomFilterInfo,
  BloomFilterMetrics,
  BloomHistogram,
  BloomMethodMetrics,
  BloomUnknownCounts,
} from '../service/index.js';

/**
 * What tells the series of a metric apart. Each has few values: names in the code of the application, or
 * words of this package.
 */
export type Label =
  | 'filter'
  | 'method'
  | 'verdict'
  | 'reason'
  | 'source'
  | 'state'
  | 'mode'
  | 'outcome'
  | 'phase'
  | 'type'
  | 'option';

/** The labels of one series. */
export type Labels = Readonly<Partial<Record<Label, string>>>;

/** A value of one series. */
export interface Sample<Value> {
  /** Which series it is of. */
  readonly labels: Labels;
  /** Its value now. */
  readonly value: Value;
}

/** What a metric is. */
export interface DescribedMetric {
  /** With dots, without a prefix and without its unit, as OpenTelemetry names metrics: `lookup.duration`. */
  readonly name: string;
  /** A unit of UCUM: `s`, `By`, `1` for a share, else what is counted, in braces. */
  readonly unit: 's' | 'By' | '1' | `{${string}}`;
  /** What it counts, for people. */
  readonly help: string;
  /** What its series have. */
  readonly labels: readonly Label[];
}

/** A number that only grows, or that goes up and down. */
export interface ExportedNumber extends DescribedMetric {
  /** `counter`: it only grows. */
  readonly kind: 'counter' | 'gauge';
  /** What the processes of a cluster make of their values together. */
  readonly combined: 'sum' | 'max' | 'average';
  /** Its values in a snapshot. */
  read(snapshot: MetricsSnapshot): readonly Sample<number>[];
}

/** Observations by size. */
export interface ExportedHistogram extends DescribedMetric {
  /** Observations by size. */
  readonly kind: 'histogram';
  /** In the unit of the metric. */
  read(snapshot: MetricsSnapshot): readonly Sample<BloomHistogram>[];
}

/** A metric, and how it is read. */
export type ExportedMetric = ExportedNumber | ExportedHistogram;

/** How the rebuilds of this process ended. */
export type RebuildOutcome = 'published' | 'skipped' | 'failed' | 'stopped';

/** Rebuilds of this process. */
export interface RebuildCounts {
  /** How many ended so. */
  readonly outcomes: Readonly<Record<RebuildOutcome, number>>;
  /** Durations of those that were published, in seconds. */
  readonly durations: BloomHistogram;
}

/** What the store knew of a filter when it was asked last. */
export interface KnownInfo {
  /** What the store said. */
  readonly info: BloomFilterInfo;
  /** When it was asked. */
  readonly readAt: Date;
}

/** All that is exported of one filter, of one moment. */
export interface FilterSnapshot {
  /** What this process knows. */
  readonly metrics: BloomFilterMetrics;
  /** Rebuilds of this process. */
  readonly rebuilds: RebuildCounts;
  /** Whether it is under attack. */
  readonly isAttacked: boolean;
  /** Undefined until the store has answered once. */
  readonly known: KnownInfo | undefined;
}

/** Events of one type. */
export interface EventCount {
  /** Undefined for events of no filter of this application. */
  readonly filter: string | undefined;
  /** Which event. */
  readonly type: BloomEvent['type'];
  /** How many since the process started. */
  readonly count: number;
}

/** All that is exported, of one moment. */
export interface MetricsSnapshot {
  /** All filters. */
  readonly filters: readonly FilterSnapshot[];
  /** All events that took place. */
  readonly events: readonly EventCount[];
}

/**
 * Metrics by their names. Counters of processes are added up, of gauges the largest counts, unless a metric
 * says otherwise.
 */
export function exportedMetrics(
  table: Readonly<
    Record<
      string,
      | (Omit<ExportedNumber, 'name' | 'combined'> & Partial<Pick<ExportedNumber, 'combined'>>)
      | Omit<ExportedHistogram, 'name'>
    >
  >,
): readonly ExportedMetric[] {
  return Object.entries(table).map(([name, metric]) =>
    metric.kind === 'histogram'
      ? { name, ...metric }
      : { name, combined: metric.kind === 'counter' ? 'sum' : 'max', ...metric },
  );
}

/** The labels of a metric, and what reads it. */
interface Reading<Value> {
  readonly labels: readonly Label[];
  read(snapshot: MetricsSnapshot): Sample<Value>[];
}

/** One sample of each filter; none of those whose value is not known. */
export function ofFilters<Value>(read: (filter: FilterSnapshot) => Value | undefined): Reading<Value> {
  return {
    labels: ['filter'],
    read: ({ filters }) =>
      filters.flatMap((filter) => {
        const value = read(filter);
        return value === undefined ? [] : [{ labels: { filter: filter.metrics.filter }, value }];
      }),
  };
}

/** Some samples of each filter, told apart by one label more. */
export function ofFiltersBy<Value>(
  label: Label,
  read: (filter: FilterSnapshot) => Readonly<Record<string, Value>>,
): Reading<Value> {
  return {
    labels: ['filter', label],
    read: ({ filters }) =>
      filters.flatMap((filter) =>
        Object.entries(read(filter)).map(([name, value]) => ({
          labels: { filter: filter.metrics.filter, [label]: name },
          value,
        })),
      ),
  };
}

/** One sample of each guarded method. */
export function ofMethods(read: (method: BloomMethodMetrics) => number): Reading<number> {
  return {
    labels: ['filter', 'method'],
    read: ({ filters }) =>
      filters.flatMap(({ metrics: { filter, methods } }) =>
        methods.map((metrics) => ({ labels: { filter, method: metrics.method }, value: read(metrics) })),
      ),
  };
}

/** A sample for each reason. */
export function byReason(labels: Labels, counts: BloomUnknownCounts): Sample<number>[] {
  return Object.entries(counts).map(([reason, value]) => ({ labels: { ...labels, reason }, value }));
}

/** 1 for the value that holds and 0 for the others, as Prometheus shows what has one of several values. */
export function oneOf<Value extends string>(
  values: readonly Value[],
  current: Value | undefined,
): Readonly<Record<string, number>> {
  return Object.fromEntries(values.map((value) => [value, value === current ? 1 : 0]));
}

export function seconds(milliseconds: number): number {
  // Without the digits that a division adds: a bound is a text in the label `le`.
  return Number((milliseconds / 1000).toPrecision(12));
}

export function inSeconds({ bounds, counts, sum }: BloomHistogram): BloomHistogram {
  return { bounds: bounds.map(seconds), counts, sum: sum / 1000 };
}
