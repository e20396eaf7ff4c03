import { printed } from 'nestjs-bloom/integrations';

const HEAD = 'BloomOpenTelemetryModule: expected';

export const wrongSwitch = (option: string, got: unknown) =>
  `${HEAD} ${option} to be true or false, got ${printed(got)}.`;

export const wrongMeterProvider = (got: unknown) =>
  `${HEAD} meterProvider to be a MeterProvider of @opentelemetry/sdk-metrics, got ${printed(got)}.`;

export const wrongHistograms = (got: unknown) =>
  `${HEAD} histograms to be a BloomMetricProducer, the one that a reader of the SDK was given in metricProducers, got ${printed(got)}.`;

export const noOptionsFactory = (got: unknown) =>
  `BloomOpenTelemetryModule.forRootAsync(): expected useFactory to be a function that returns options, got ${printed(got)}.`;

export const NO_METER_PROVIDER =
  'BLOOM_NO_METER_PROVIDER: no metrics are exported, since no meter provider is registered. Start the SDK of OpenTelemetry before the application, ' +
  'or give a meterProvider. For spans alone set metrics: false.';

export const spansFailed = (cause: string) =>
  `BLOOM_SPANS_FAILED: no verdicts are noted on spans any more, since setting the attributes of one failed. ${cause}`;
