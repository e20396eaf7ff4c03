import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { BloomConfigError } from 'nestjs-bloom';
import { checkOptions, type OptionNames } from 'nestjs-bloom/integrations';
import type {
  BloomOpenTelemetryAsyncOptions,
  BloomOpenTelemetryOptions,
} from './bloom-open-telemetry-options.js';
import { noOptionsFactory } from './open-telemetry.messages.js';
import { OPEN_TELEMETRY_OPTIONS, OpenTelemetryExporter } from './open-telemetry-exporter.js';

const ASYNC = {
  imports: true,
  inject: true,
  useFactory: true,
} satisfies OptionNames<BloomOpenTelemetryAsyncOptions>;

/**
 * Exports the metrics of all filters through `@opentelemetry/api`, and notes verdicts on spans where the
 * option `spans` asks for it. Import it once, in the root module, and start the SDK before the application.
 *
 * @example
 * imports: [BloomModule.forRoot({ redis: 'redis://localhost:6379' }), BloomOpenTelemetryModule.forRoot({
 * spans: true })]
 */
@Module({})
export class BloomOpenTelemetryModule {
  static forRoot(options: BloomOpenTelemetryOptions = {}): DynamicModule {
    return withOptions({ provide: OPEN_TELEMETRY_OPTIONS, useValue: options });
  }

  /** The same with options that a factory makes. */
  static forRootAsync(options: BloomOpenTelemetryAsyncOptions): DynamicModule {
    checkOptions(options, { where: 'BloomOpenTelemetryModule.forRootAsync()', known: ASYNC });
    const { useFactory, inject = [], imports = [] } = options;
    if (typeof useFactory !== 'function') throw new BloomConfigError(noOptionsFactory(useFactory));
    return withOptions({ provide: OPEN_TELEMETRY_OPTIONS, inject: [...inject], useFactory }, imports);
  }
}

function withOptions(options: Provider, imports: NonNullable<DynamicModule['imports']> = []): DynamicModule {
  return { module: BloomOpenTelemetryModule, imports, providers: [options, OpenTelemetryExporter] };
}
