import type { BloomHistogram } from '../service/index.js';
import type { MetricsSnapshot } from './metrics-snapshot.js';

/** What tells the series of a metric apart. Each has few values: names in the code of the application, or words of this package. */
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

export type Labels = Readonly<Partial<Record<Label, string>>>;

export interface Sample<Value> {
  readonly labels: Labels;
  readonly value: Value;
}

export interface DescribedMetric {
  /** With dots, without a prefix and without its unit, as OpenTelemetry names metrics: `lookup.duration`. */
  readonly name: string;
  /** Of UCUM: `s`, `By`, `1` for a share, else what is counted, in braces. */
  readonly unit: 's' | 'By' | '1' | `{${string}}`;
  readonly help: string;
  readonly labels: readonly Label[];
}

/** A number that only grows, or that goes up and down. */
export interface ExportedNumber extends DescribedMetric {
  readonly kind: 'counter' | 'gauge';
  /** What the processes of a cluster make of their values together. */
  readonly combined: 'sum' | 'max' | 'average';
  read(snapshot: MetricsSnapshot): readonly Sample<number>[];
}

export interface ExportedHistogram extends DescribedMetric {
  readonly kind: 'histogram';
  /** In the unit of the metric. */
  read(snapshot: MetricsSnapshot): readonly Sample<BloomHistogram>[];
}

export type ExportedMetric = ExportedNumber | ExportedHistogram;
