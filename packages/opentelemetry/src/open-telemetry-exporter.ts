import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  Optional,
} from '@nestjs/common';
import {
  BloomConfigError,
  type BloomEvent,
  BloomGuardRunner,
  type BloomService,
  OnBloomEvent,
} from 'nestjs-bloom';
import {
  BLOOM_SERVICE,
  checkOptions,
  MetricsCollector,
  type OptionNames,
  withHelp,
} from 'nestjs-bloom/integrations';
import { BloomMetricProducer } from './bloom-metric-producer.js';
import type { BloomOpenTelemetryOptions } from './bloom-open-telemetry-options.js';
import { MeterExporter } from './meter-exporter.js';
import { SpanMarker } from './span-marker.js';
import {
  NO_METER_PROVIDER,
  wrongHistograms,
  wrongMeterProvider,
  wrongSwitch,
} from './open-telemetry.messages.js';

export const OPEN_TELEMETRY_OPTIONS = Symbol('nestjs-bloom opentelemetry options');

const WHERE = 'BloomOpenTelemetryModule';
const OPTIONS = {
  metrics: true,
  meterProvider: true,
  histograms: true,
  spans: true,
  infoEveryMs: true,
} satisfies OptionNames<BloomOpenTelemetryOptions>;

/** Exports what an application asks for while it runs. */
@Injectable()
export class OpenTelemetryExporter implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly collector: MetricsCollector;
  private readonly collect = () => this.collector.collect();
  private meters: MeterExporter | undefined;
  private spans: SpanMarker | undefined;

  /** @throws {BloomConfigError} for options that cannot work, and without filters. */
  constructor(
    @Inject(OPEN_TELEMETRY_OPTIONS) private readonly options: BloomOpenTelemetryOptions,
    @Optional() @Inject(BLOOM_SERVICE) service?: BloomService,
    @Optional() @Inject(BloomGuardRunner) runner?: BloomGuardRunner,
  ) {
    checkAll(options);
    this.collector = new MetricsCollector(WHERE, service, options.infoEveryMs);
    if (options.spans) this.spans = new SpanMarker(runner);
  }

  @OnBloomEvent()
  onEvent(event: BloomEvent): void {
    this.collector.count(event);
  }

  onApplicationBootstrap(): void {
    const { metrics = true, meterProvider, histograms } = this.options;
    histograms?.attach(this.collect);
    this.spans?.start();
    if (!metrics) return;
    this.meters = new MeterExporter(this.collector, meterProvider);
    if (this.meters.isNoop) new Logger('Bloom').warn(withHelp(NO_METER_PROVIDER));
    this.meters.start();
  }

  onModuleDestroy(): void {
    this.meters?.stop();
    this.spans?.stop();
    this.options.histograms?.detach(this.collect);
  }
}

function checkAll(options: BloomOpenTelemetryOptions): void {
  checkOptions(options, { where: WHERE, known: OPTIONS });
  const { metrics, spans, meterProvider, histograms } = options;
  for (const [name, value] of Object.entries({ metrics, spans }))
    if (value !== undefined && typeof value !== 'boolean')
      throw new BloomConfigError(wrongSwitch(name, value));
  if (meterProvider !== undefined && typeof Object(meterProvider).getMeter !== 'function')
    throw new BloomConfigError(wrongMeterProvider(meterProvider));
  if (histograms !== undefined && !(histograms instanceof BloomMetricProducer))
    throw new BloomConfigError(wrongHistograms(histograms));
}
