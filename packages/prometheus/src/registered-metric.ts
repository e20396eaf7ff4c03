import type { BloomHistogram } from 'nestjs-bloom';
import type {
  ExportedHistogram,
  ExportedMetric,
  ExportedNumber,
  Labels,
  MetricsSnapshot,
} from 'nestjs-bloom/integrations';

interface RegisteredValue {
  readonly labels: Record<string, string | number>;
  readonly value: number;
  /** Where it is not the name of the metric. */
  readonly metricName?: string;
}

export function prometheusName(metric: ExportedMetric, prefix: string): string {
  return `${prefix}${metric.name.replaceAll('.', '_')}${unitSuffix(metric)}`;
}

/** What Prometheus adds to a name for its unit; empty for a number of things. */
function unitSuffix({ unit, kind }: ExportedMetric): string {
  const base = unit === 's' ? '_seconds' : unit === 'By' ? '_bytes' : unit === '1' ? '_ratio' : '';
  return kind === 'counter' ? `${base}_total` : base;
}

/**
 * A metric as a registry of `prom-client` asks for it. Its own classes count by themselves, and a histogram
 * of theirs cannot take what is counted in buckets already.
 */
export class RegisteredMetric {
  readonly help: string;
  readonly type: ExportedMetric['kind'];
  readonly aggregator: ExportedNumber['combined'];
  readonly labelNames: readonly string[];

  /** @param name is changed by a registry of format OpenMetrics, for counters. */
  constructor(
    public name: string,
    private readonly metric: ExportedMetric,
    private readonly collectSnapshot: () => Promise<MetricsSnapshot>,
  ) {
    this.help = metric.help;
    this.type = metric.kind;
    this.labelNames = metric.labels;
    this.aggregator = metric.kind === 'histogram' ? 'sum' : metric.combined;
  }

  async get() {
    const { metric, help, type, aggregator } = this;
    const snapshot = await this.collectSnapshot();
    const values =
      metric.kind === 'histogram' ? this.histogramValues(metric, snapshot) : numbers(metric, snapshot);
    return { name: this.name, help, type, aggregator, values };
  }

  /** The counts are those of the process and not of the registry, so they go on. */
  reset(): void {}

  private histogramValues(metric: ExportedHistogram, snapshot: MetricsSnapshot): RegisteredValue[] {
    return metric.read(snapshot).flatMap(({ labels, value }) => this.series(labels, value));
  }

  private series(labels: Labels, { bounds, counts, sum }: BloomHistogram): RegisteredValue[] {
    let count = 0;
    const buckets = counts.map((inBucket, i) => ({
      metricName: `${this.name}_bucket`,
      labels: { ...labels, le: bounds[i] ?? '+Inf' },
      value: (count += inBucket),
    }));
    return [
      ...buckets,
      { metricName: `${this.name}_sum`, labels: { ...labels }, value: sum },
      { metricName: `${this.name}_count`, labels: { ...labels }, value: count },
    ];
  }
}

function numbers(metric: ExportedNumber, snapshot: MetricsSnapshot): RegisteredValue[] {
  // A registry writes its default labels into those of a value.
  return metric.read(snapshot).map(({ labels, value }) => ({ labels: { ...labels }, value }));
}
