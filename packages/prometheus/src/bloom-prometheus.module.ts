import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { BloomConfigError } from 'nestjs-bloom';
import { checkOptions, type OptionNames } from 'nestjs-bloom/integrations';
import type { BloomPrometheusAsyncOptions, BloomPrometheusOptions } from './bloom-prometheus-options.js';
import { noOptionsFactory } from './prometheus.messages.js';
import { PROMETHEUS_OPTIONS, PrometheusExporter } from './prometheus-exporter.js';

const ASYNC = {
  imports: true,
  inject: true,
  useFactory: true,
} satisfies OptionNames<BloomPrometheusAsyncOptions>;

/**
 * Registers the metrics of all filters in a registry of `prom-client`, from the start of the application to
 * its end. Import it once, in the root module. They are collected when somebody asks the registry, so a
 * lookup does no work for them. The module serves no route: your own `/metrics`, which you may have, serves
 * this registry.
 *
 * @example
 * imports: [BloomModule.forRoot({ redis: 'redis://localhost:6379' }), BloomPrometheusModule.forRoot()]
 */
@Module({})
export class BloomPrometheusModule {
  /**
   * @throws at start {BloomConfigError} when the registry has a metric of one of the names, as that of an
   * application that is not closed.
   */
  static forRoot(options: BloomPrometheusOptions = {}): DynamicModule {
    return withOptions({ provide: PROMETHEUS_OPTIONS, useValue: options });
  }

  /** The same with options that a factory makes. */
  static forRootAsync(options: BloomPrometheusAsyncOptions): DynamicModule {
    checkOptions(options, { where: 'BloomPrometheusModule.forRootAsync()', known: ASYNC });
    const { useFactory, inject = [], imports = [] } = options;
    if (typeof useFactory !== 'function') throw new BloomConfigError(noOptionsFactory(useFactory));
    return withOptions({ provide: PROMETHEUS_OPTIONS, inject: [...inject], useFactory }, imports);
  }
}

function withOptions(options: Provider, imports: NonNullable<DynamicModule['imports']> = []): DynamicModule {
  return { module: BloomPrometheusModule, imports, providers: [options, PrometheusExporter] };
}
