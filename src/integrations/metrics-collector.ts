import { BloomConfigError, type BloomEvent } from '../common/index.js';
import type { BloomService } from '../service/index.js';
import { EventCounts } from './event-counts.js';
import { noRootOf, wrongInfoEveryMs } from './integrations.messages.js';
import { KnownInfos } from './known-infos.js';
import type { MetricsSnapshot } from './metrics-snapshot.js';

/** Least time between two calls of `info()` of one filter, unless an option says otherwise. */
const INFO_EVERY_MS = 60_000;
const LEAST_INFO_EVERY_MS = 1000;

/** Gathers what is exported when somebody asks for it. */
export class MetricsCollector {
  private readonly service: BloomService;
  private readonly events: EventCounts;
  private readonly infos: KnownInfos;
  private running: Promise<MetricsSnapshot> | undefined;

  /**
   * @param where the module that exports, for people.
   * @param infoEveryMs an option of that module: least time between two calls of `info()` of one filter.
   * @throws {BloomConfigError} without filters, and for a time that is no number or too short.
   */
  constructor(where: string, service: BloomService | undefined, infoEveryMs: number = INFO_EVERY_MS) {
    if (!service) throw new BloomConfigError(noRootOf(where));
    if (typeof infoEveryMs !== 'number' || !(infoEveryMs >= LEAST_INFO_EVERY_MS))
      throw new BloomConfigError(wrongInfoEveryMs(where, infoEveryMs));
    this.service = service;
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
    const { service } = this;
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
