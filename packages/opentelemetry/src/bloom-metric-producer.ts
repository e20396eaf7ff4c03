import { type Attributes, type HrTime, ValueType } from '@opentelemetry/api';
import type { BloomHistogram } from 'nestjs-bloom';
import { EXPORTED_METRICS, type ExportedHistogram, type MetricsSnapshot } from 'nestjs-bloom/integrations';
import { attributesOf, NAMESPACE, SCOPE } from './attributes.js';

/** A histogram of one series. */
export interface ProducedPoint {
  readonly startTime: HrTime;
  readonly endTime: HrTime;
  readonly attributes: Attributes;
  readonly value: {
    readonly buckets: { readonly boundaries: number[]; readonly counts: number[] };
    readonly sum: number;
    readonly count: number;
  };
}

/** A histogram with all its series. */
export interface ProducedHistogram {
  readonly descriptor: {
    readonly name: string;
    readonly description: string;
    readonly unit: string;
    readonly valueType: ValueType;
  };
  /** `CUMULATIVE` of the SDK. */
  readonly aggregationTemporality: 1;
  /** `HISTOGRAM` of the SDK. */
  readonly dataPointType: 0;
  readonly dataPoints: ProducedPoint[];
}

/** What a reader of the SDK takes from a producer. */
export interface ProducedMetrics {
  readonly resourceMetrics: {
    /** A reader takes the resource of its own provider. */
    // oxlint-disable-next-line typescript/no-explicit-any -- the class of a resource belongs to the SDK, which is not loaded here
    readonly resource: any;
    readonly scopeMetrics: {
      readonly scope: { readonly name: string };
      readonly metrics: ProducedHistogram[];
    }[];
  };
  readonly errors: unknown[];
}

const HISTOGRAMS = EXPORTED_METRICS.filter(
  (metric): metric is ExportedHistogram => metric.kind === 'histogram',
);

/**
 * Hands the histograms of the filters to a reader of the SDK. The API of OpenTelemetry has no instrument for
 * what is counted in buckets already. Make one beside the SDK, give it to a reader, and to the module as
 * `histograms`.
 *
 * @example
 * const histograms = new BloomMetricProducer();
 * new PeriodicExportingMetricReader({ exporter, metricProducers: [histograms] });
 */
export class BloomMetricProducer {
  private readonly sources = new Set<() => Promise<MetricsSnapshot>>();
  private readonly startTime = now();

  /** Called by a reader of the SDK. Never rejects. */
  async collect(): Promise<ProducedMetrics> {
    const taken = await Promise.allSettled([...this.sources].map((collect) => collect()));
    const snapshots = taken.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const errors: unknown[] = taken.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    const endTime = now();
    const metrics = HISTOGRAMS.map((metric) =>
      produced(
        metric,
        snapshots.flatMap((snapshot) => this.points(metric, snapshot, endTime)),
      ),
    ).filter(({ dataPoints }) => dataPoints.length > 0);
    const scopeMetrics = metrics.length > 0 ? [{ scope: { name: SCOPE }, metrics }] : [];
    return { resourceMetrics: { resource: undefined, scopeMetrics }, errors };
  }

  /** @internal */
  attach(source: () => Promise<MetricsSnapshot>): void {
    this.sources.add(source);
  }

  /** @internal */
  detach(source: () => Promise<MetricsSnapshot>): void {
    this.sources.delete(source);
  }

  private points(metric: ExportedHistogram, snapshot: MetricsSnapshot, endTime: HrTime): ProducedPoint[] {
    const { startTime } = this;
    return metric.read(snapshot).map(({ labels, value }) => ({
      startTime,
      endTime,
      attributes: attributesOf(labels),
      value: bucketsOf(value),
    }));
  }
}

function produced({ name, help, unit }: ExportedHistogram, dataPoints: ProducedPoint[]): ProducedHistogram {
  return {
    descriptor: { name: NAMESPACE + name, description: help, unit, valueType: ValueType.DOUBLE },
    aggregationTemporality: 1,
    dataPointType: 0,
    dataPoints,
  };
}

function bucketsOf({ bounds, counts, sum }: BloomHistogram): ProducedPoint['value'] {
  const count = counts.reduce((total, inBucket) => total + inBucket, 0);
  return { buckets: { boundaries: [...bounds], counts: [...counts] }, sum, count };
}

function now(): HrTime {
  const milliseconds = Date.now();
  return [Math.floor(milliseconds / 1000), (milliseconds % 1000) * 1_000_000];
}
