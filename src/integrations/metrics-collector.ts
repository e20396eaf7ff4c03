import type { BloomEvent } from '../common/index.js';
import type { BloomService } from '../service/index.js';
import { EventCounts } from './event-counts.js';
import { KnownInfos } from './known-infos.js';
import type { MetricsSnapshot } from './metrics-snapshot.js';

export interface CollectorOptions {
  readonly service: BloomService;
  /** Least time between two calls of `info()` of a filter, in milliseconds. */
  readonly infoEveryMs: number;
}

/** Gathers what is exported when somebody asks for it. */
export class MetricsCollector {
  private readonly events: EventCounts;
  private readonly infos: KnownInfos;
  private running: Promise<MetricsSnapshot> | undefined;

  constructor(private readonly options: CollectorOptions) {
    const { service, infoEveryMs } = options;
    this.events = new EventCounts((name) => service.has(name));
    this.infos = new KnownInfos({ service, everyMs: infoEveryMs });
  }

  /** To be called with every event. */
  count(event: BloomEvent): void {
    this.events.count(event);
  }

  /** All who ask at the same time get the same snapshot, so that the metrics of one scrape fit each other. */
  collect(): Promise<MetricsSnapshot> {
    return (this.running ??= this.take().finally(() => {
      this.running = undefined;
    }));
  }

  private async take(): Promise<MetricsSnapshot> {
    const { service } = this.options;
    await this.infos.refresh(service.metrics().map(({ filter }) => filter));
    return {
      filters: service.metrics().map((metrics) => ({
        metrics,
        rebuilds: this.events.rebuildsOf(metrics.filter),
        isAttacked: this.events.isAttacked(metrics.filter),
        known: this.infos.of(metrics.filter),
      })),
      events: this.events.all(),
    };
  }
}
