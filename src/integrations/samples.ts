import type { BloomHistogram, BloomMethodMetrics, BloomUnknownCounts } from '../service/index.js';
import type { Label, Labels, Sample } from './exported-metric.js';
import type { FilterSnapshot, MetricsSnapshot } from './metrics-snapshot.js';

/** One sample of each filter; none of those whose value is not known. */
export function ofFilters<Value>(
  read: (filter: FilterSnapshot) => Value | undefined,
): (snapshot: MetricsSnapshot) => Sample<Value>[] {
  return ({ filters }) =>
    filters.flatMap((filter) => {
      const value = read(filter);
      return value === undefined ? [] : [{ labels: { filter: filter.metrics.filter }, value }];
    });
}

/** Some samples of each filter, told apart by one label more. */
export function ofFiltersBy<Value>(
  label: Label,
  read: (filter: FilterSnapshot) => Readonly<Record<string, Value>>,
): (snapshot: MetricsSnapshot) => Sample<Value>[] {
  return ({ filters }) =>
    filters.flatMap((filter) =>
      Object.entries(read(filter)).map(([name, value]) => ({
        labels: { filter: filter.metrics.filter, [label]: name },
        value,
      })),
    );
}

/** Some samples of each guarded method. */
export function ofMethods(
  read: (method: BloomMethodMetrics, labels: Labels) => readonly Sample<number>[] | number,
): (snapshot: MetricsSnapshot) => Sample<number>[] {
  return ({ filters }) =>
    filters.flatMap(({ metrics: { filter, methods } }) =>
      methods.flatMap((metrics) => {
        const labels = { filter, method: metrics.method };
        const found = read(metrics, labels);
        return typeof found === 'number' ? [{ labels, value: found }] : found;
      }),
    );
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
