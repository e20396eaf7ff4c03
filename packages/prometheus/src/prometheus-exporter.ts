import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  Optional,
} from '@nestjs/common';
import { type Metric, register } from 'prom-client';
import { BloomConfigError, type BloomEvent, type BloomService, OnBloomEvent } from 'nestjs-bloom';
import {
  BLOOM_SERVICE,
  checkOptions,
  EXPORTED_METRICS,
  MetricsCollector,
  type OptionNames,
} from 'nestjs-bloom/integrations';
import type { BloomPrometheusOptions, PrometheusRegistry } from './bloom-prometheus-options.js';
import { nameTaken, wrongPrefix, wrongRegistry } from './prometheus.messages.js';
import { prometheusName, RegisteredMetric } from './registered-metric.js';

export const PROMETHEUS_OPTIONS = Symbol('nestjs-bloom prometheus options');

const WHERE = 'BloomPrometheusModule';
const OPTIONS = {
  registry: true,
  prefix: true,
  infoEveryMs: true,
} satisfies OptionNames<BloomPrometheusOptions>;

/** Keeps the metrics of an application registered while it runs. */
@Injectable()
export class PrometheusExporter implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly registry: PrometheusRegistry;
  private readonly collector: MetricsCollector;
  private readonly metrics: ReadonlyMap<string, RegisteredMetric>;

  /** @throws {BloomConfigError} for options that cannot work, and without filters. */
  constructor(
    @Inject(PROMETHEUS_OPTIONS) options: BloomPrometheusOptions,
    @Optional() @Inject(BLOOM_SERVICE) service?: BloomService,
  ) {
    checkOptions(options, { where: WHERE, known: OPTIONS });
    this.collector = new MetricsCollector(WHERE, service, options.infoEveryMs);
    this.registry = checkedRegistry(options.registry);
    const prefix = checkedPrefix(options.prefix);
    const collect = () => this.collector.collect();
    this.metrics = new Map(
      EXPORTED_METRICS.map((metric) => {
        const name = prometheusName(metric, prefix);
        return [name, new RegisteredMetric(name, metric, collect)];
      }),
    );
  }

  @OnBloomEvent()
  onEvent(event: BloomEvent): void {
    this.collector.count(event);
  }

  /**
   * As late as can be: an application that does not start leaves nothing in the registry, and one that takes
   * the place of another has time to close it.
   *
   * @throws {BloomConfigError} when the registry has a metric of one of the names.
   */
  onApplicationBootstrap(): void {
    const taken = [...this.metrics.keys()].find((name) => this.registry.getSingleMetric(name));
    if (taken !== undefined) throw new BloomConfigError(nameTaken(taken));
    for (const metric of this.metrics.values()) this.registry.registerMetric(metric as unknown as Metric);
  }

  onModuleDestroy(): void {
    for (const [name, metric] of this.metrics) {
      const registered: unknown = this.registry.getSingleMetric(name);
      if (registered === metric) this.registry.removeSingleMetric(name);
    }
  }
}

function checkedPrefix(prefix: unknown = 'bloom_'): string {
  if (typeof prefix !== 'string' || !/^[a-zA-Z_][a-zA-Z0-9_]*$/.test(prefix))
    throw new BloomConfigError(wrongPrefix(prefix));
  return prefix;
}

function checkedRegistry(registry: PrometheusRegistry = register): PrometheusRegistry {
  const { registerMetric, getSingleMetric, removeSingleMetric } = Object(
    registry,
  ) as Partial<PrometheusRegistry>;
  const isRegistry = [registerMetric, getSingleMetric, removeSingleMetric].every(
    (method) => typeof method === 'function',
  );
  if (!isRegistry) throw new BloomConfigError(wrongRegistry(registry));
  return registry;
}
