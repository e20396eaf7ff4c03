import type { BloomHistogram } from '../service/index.js';
import type { MetricsSnapshot } from './metrics-snapshot.js';

/** What tells the series of a metric apart. Each has few values: names in the code of the application, or words of this package. */
const LABELS = [
  'filter',
  'method',
  'verdict',
  'reason',
  'source',
  'state',
  'mode',
  'outcome',
  'phase',
  'type',
  'option',
] as const;

export type Label = (typeof LABELS)[number];
export type Labels = Readonly<Partial<Record<Label, string>>>;

export interface Sample<Value> {
  readonly labels: Labels;
  readonly value: Value;
}

interface Described {
  /** With dots, without a prefix and without its unit, as OpenTelemetry names metrics: `lookup.duration`. */
  readonly name: string;
  /** Of UCUM: `s`, `By`, `1` for a share, else what is counted, in braces. */
  readonly unit: 's' | 'By' | '1' | `{${string}}`;
  readonly help: string;
  readonly labels: readonly Label[];
}

/** A number that only grows, or that goes up and down. */
export interface ExportedNumber extends Described {
  readonly kind: 'counter' | 'gauge';
  /** What the processes of a cluster make of their values together. */
  readonly combined: 'sum' | 'max' | 'average';
  read(snapshot: MetricsSnapshot): readonly Sample<number>[];
}

export interface ExportedHistogram extends Described {
  readonly kind: 'histogram';
  /** In the unit of the metric. */
  read(snapshot: MetricsSnapshot): readonly Sample<BloomHistogram>[];
}

export type ExportedMetric = ExportedNumber | ExportedHistogram;

/** What Prometheus adds to a name for its unit; empty for a number of things. */
export function unitSuffix({ unit, kind }: ExportedMetric): string {
  const base = unit === 's' ? '_seconds' : unit === 'By' ? '_bytes' : unit === '1' ? '_ratio' : '';
  return kind === 'counter' ? `${base}_total` : base;
}
