import type { FactoryProvider, ModuleMetadata } from '@nestjs/common';
import type { MeterProvider } from '@opentelemetry/api';
import type { BloomMetricProducer } from './bloom-metric-producer.js';

/** Options of `BloomOpenTelemetryModule.forRoot`. */
export interface BloomOpenTelemetryOptions {
  /** Whether metrics are exported. Default true. */
  readonly metrics?: boolean;
  /**
   * Where the instruments are made. Default: the global provider, which the SDK has to set before the
   * application starts.
   */
  readonly meterProvider?: MeterProvider;
  /** What hands the histograms to a reader of the SDK; without it none are exported. */
  readonly histograms?: BloomMetricProducer;
  /**
   * Whether each guarded call notes filter, verdict and reason on the active span, as `bloom.filter`,
   * `bloom.verdict` and `bloom.reason`. Default
   * false: it costs each guarded call the look at the active span.
   */
  readonly spans?: boolean;
  /**
   * Least time between two calls of `info()` of a filter, which asks the store, in milliseconds. Default
   * 60,000, at least 1,000.
   */
  readonly infoEveryMs?: number;
}

/** Options of `BloomOpenTelemetryModule.forRootAsync`: the factory makes the options. */
export interface BloomOpenTelemetryAsyncOptions extends Pick<ModuleMetadata, 'imports'> {
  // oxlint-disable-next-line typescript/no-explicit-any -- what is injected is the factory's own affair
  readonly useFactory: (...args: any[]) => BloomOpenTelemetryOptions | Promise<BloomOpenTelemetryOptions>;
  readonly inject?: FactoryProvider['inject'];
}
