import {
  type BatchObservableCallback,
  createNoopMeter,
  type Meter,
  metrics,
  type MeterProvider,
  type Observable,
} from '@opentelemetry/api';
import { EXPORTED_METRICS, type ExportedNumber, type MetricsCollector } from 'nestjs-bloom/integrations';
import { attributesOf, NAMESPACE, SCOPE } from './attributes.js';

/** Observable instruments of all metrics that are numbers, on one meter, observed together. */
export class MeterExporter {
  private readonly meter: Meter;
  private readonly instruments: ReadonlyMap<ExportedNumber, Observable>;
  private readonly observe: BatchObservableCallback;

  /** @param provider undefined: the global one. */
  constructor(collector: MetricsCollector, provider: MeterProvider = metrics.getMeterProvider()) {
    this.meter = provider.getMeter(SCOPE);
    const numbers = EXPORTED_METRICS.filter(
      (metric): metric is ExportedNumber => metric.kind !== 'histogram',
    );
    this.instruments = new Map(numbers.map((metric) => [metric, this.instrumentOf(metric)]));
    this.observe = async (observed) => {
      const snapshot = await collector.collect();
      for (const [metric, instrument] of this.instruments)
        for (const { labels, value } of metric.read(snapshot))
          observed.observe(instrument, value, attributesOf(labels));
    };
  }

  /** Whether nobody takes what is observed. */
  get isNoop(): boolean {
    return this.meter === createNoopMeter();
  }

  start(): void {
    this.meter.addBatchObservableCallback(this.observe, [...this.instruments.values()]);
  }

  stop(): void {
    this.meter.removeBatchObservableCallback(this.observe, [...this.instruments.values()]);
  }

  private instrumentOf({ name, kind, help, unit }: ExportedNumber): Observable {
    const described = { description: help, unit };
    return kind === 'counter'
      ? this.meter.createObservableCounter(NAMESPACE + name, described)
      : this.meter.createObservableGauge(NAMESPACE + name, described);
  }
}
