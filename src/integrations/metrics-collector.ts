import { BloomConfigError, type BloomEvent, BloomRebuildError, within } from '../common/index.js';
import { type BloomService, Histogram } from '../service/index.js';
import type {
  EventCount,
  KnownInfo,
  MetricsSnapshot,
  RebuildCounts,
  RebuildOutcome,
} from './exported-metric.js';
import { noRootOf, wrongInfoEveryMs } from './integrations.messages.js';

const INFO_EVERY_MS = 60_000;
const LEAST_INFO_EVERY_MS = 1000;
/** How long a collection waits for what was never known; the next one has it otherwise. */
const FIRST_ANSWER_MS = 1000;
/** In seconds. */
const DURATION_BOUNDS = [1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14_400];

/** Gathers what is exported, when an exporter asks for it. */
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
    this.infos = new KnownInfos(service, infoEveryMs);
  }

  /** To be called with every event. */
  count(event: BloomEvent): void {
    this.events.count(event);
  }

  /** Calls at the same time get the same snapshot, so that the metrics of one scrape fit each other. */
  collect(): Promise<MetricsSnapshot> {
    return (this.running ??= this.take().finally(() => {
      this.running = undefined;
    }));
  }

  private async take(): Promise<MetricsSnapshot> {
    const { service, events, infos } = this;
    await infos.refresh(service.metrics().map(({ filter }) => filter));
    return {
      filters: service.metrics().map((metrics) => ({
        metrics,
        rebuilds: events.rebuildsOf(metrics.filter),
        isAttacked: events.attacked.has(metrics.filter),
        known: infos.of(metrics.filter),
      })),
      events: events.all(),
    };
  }
}

/** Counts events as they happen. */
class EventCounts {
  /** Filters under an attack that goes on. */
  readonly attacked = new Set<string>();
  private readonly byFilter = new Map<string | undefined, Map<BloomEvent['type'], number>>();
  private readonly rebuilds = new Map<
    string,
    { readonly outcomes: Record<RebuildOutcome, number>; readonly durations: Histogram }
  >();

  /**
   * @param isFilter whether a filter of this name exists: other names may be any text that a client has sent.
   */
  constructor(private readonly isFilter: (name: string) => boolean) {}

  count(event: BloomEvent): void {
    // Reports of a run that goes on say nothing by their number.
    if (event.type === 'rebuild-progress') return;
    const filter = 'filter' in event && this.isFilter(event.filter) ? event.filter : undefined;
    let counts = this.byFilter.get(filter);
    if (!counts) this.byFilter.set(filter, (counts = new Map()));
    counts.set(event.type, (counts.get(event.type) ?? 0) + 1);
    if (filter === undefined) return;
    if (event.type === 'attack-started') this.attacked.add(filter);
    if (event.type === 'attack-ended') this.attacked.delete(filter);
    const outcome = outcomeOf(event);
    if (outcome) this.rebuildCounter(filter).outcomes[outcome]++;
    if (event.type === 'rebuild-finished')
      this.rebuildCounter(filter).durations.observe(event.durationMs / 1000);
  }

  all(): EventCount[] {
    return [...this.byFilter].flatMap(([filter, counts]) =>
      [...counts].map(([type, count]) => ({ filter, type, count })),
    );
  }

  rebuildsOf(filter: string): RebuildCounts {
    const { outcomes, durations } = this.rebuildCounter(filter);
    return { outcomes, durations: durations.snapshot() };
  }

  private rebuildCounter(filter: string) {
    let counter = this.rebuilds.get(filter);
    if (!counter) {
      const outcomes = { published: 0, skipped: 0, failed: 0, stopped: 0 };
      this.rebuilds.set(filter, (counter = { outcomes, durations: new Histogram(DURATION_BOUNDS) }));
    }
    return counter;
  }
}

function outcomeOf(event: BloomEvent): RebuildOutcome | undefined {
  if (event.type === 'rebuild-finished') return 'published';
  if (event.type === 'rebuild-skipped') return 'skipped';
  if (event.type !== 'rebuild-failed') return undefined;
  return event.error instanceof BloomRebuildError && event.error.reason === 'aborted' ? 'stopped' : 'failed';
}

interface Asked {
  known: KnownInfo | undefined;
  askedAt: number;
  answer: Promise<void> | undefined;
}

/**
 * What `info()` of the filters said, asked at a bounded rate: it reads up to 128 KiB from Redis. What is
 * known stays while Redis does not answer, with the time at which it was read.
 */
class KnownInfos {
  private readonly byFilter = new Map<string, Asked>();

  constructor(
    private readonly service: BloomService,
    private readonly everyMs: number,
  ) {}

  /** Asks for what is too old, and waits only for what has never been known. Never rejects. */
  async refresh(filters: readonly string[]): Promise<void> {
    const first = filters.flatMap((filter) => {
      const { known, answer } = this.ask(filter);
      return known || !answer ? [] : [answer];
    });
    if (first.length === 0) return;
    await within(FIRST_ANSWER_MS, Promise.all(first));
  }

  of(filter: string): KnownInfo | undefined {
    return this.byFilter.get(filter)?.known;
  }

  private ask(filter: string): Asked {
    const now = performance.now();
    let asked = this.byFilter.get(filter);
    if (!asked)
      this.byFilter.set(filter, (asked = { known: undefined, askedAt: -Infinity, answer: undefined }));
    if (!asked.answer && now - asked.askedAt >= this.everyMs) {
      asked.askedAt = now;
      asked.answer = this.answerOf(filter, asked);
    }
    return asked;
  }

  private async answerOf(filter: string, asked: Asked): Promise<void> {
    const { service } = this;
    try {
      asked.known = { info: await service.guardable(filter).info(), readAt: new Date() };
    } catch (error) {
      service.emit({ type: 'store-error', filter, operation: 'info', error });
    } finally {
      asked.answer = undefined;
    }
  }
}
