import type { FactoryProvider, ModuleMetadata } from '@nestjs/common';
import type { OpenMetricsContentType, PrometheusContentType, Registry } from 'prom-client';

/** A registry of `prom-client`, of either format. */
export type PrometheusRegistry = Registry<PrometheusContentType> | Registry<OpenMetricsContentType>;

/** Options of `BloomPrometheusModule.forRoot`. */
export interface BloomPrometheusOptions {
  /** Where the metrics are registered. Default: the default registry of `prom-client`, `register`. */
  readonly registry?: PrometheusRegistry;
  /**
   * Head of the name of every metric. Default `bloom_`, which the dashboard and the alert rules of this
   * package expect.
   */
  readonly prefix?: string;
  /**
   * Least time between two calls of `info()` of a filter, which asks the store, in milliseconds. Default
   * 60,000, at least 1,000.
   */
  readonly infoEveryMs?: number;
}

/** Options of `BloomPrometheusModule.forRootAsync`: the factory makes the options. */
export interface BloomPrometheusAsyncOptions extends Pick<ModuleMetadata, 'imports'> {
  // oxlint-disable-next-line typescript/no-explicit-any -- what is injected is the factory's own affair
  readonly useFactory: (...args: any[]) => BloomPrometheusOptions | Promise<BloomPrometheusOptions>;
  readonly inject?: FactoryProvider['inject'];
}
