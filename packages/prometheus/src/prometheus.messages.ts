import { printed } from 'nestjs-bloom/integrations';

export const wrongPrefix = (got: unknown) =>
  'BloomPrometheusModule: expected prefix to be the beginning of a metric name, of letters, digits and underscores and not beginning with a digit, ' +
  `got ${printed(got)}.`;

export const wrongRegistry = (got: unknown) =>
  `BloomPrometheusModule: expected registry to be a Registry of prom-client, got ${printed(got)}.`;

export const nameTaken = (name: string) =>
  `BloomPrometheusModule: the registry has a metric '${name}' already. Either the module is imported twice, or another application of this ` +
  'process uses the same registry and is not closed: close it first (await app.close()), or give each application a registry of its own, ' +
  '{ registry: new Registry() }. If the metric is your own, set another prefix.';

export const noOptionsFactory = (got: unknown) =>
  `BloomPrometheusModule.forRootAsync(): expected useFactory to be a function that returns options, got ${printed(got)}.`;
