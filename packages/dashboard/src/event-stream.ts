import { Logger } from '@nestjs/common';
import type { BloomService } from 'nestjs-bloom';
import { withHelp } from 'nestjs-bloom/integrations';
import { dashboardFailed } from './dashboard.messages.js';
import type { BloomDashboardSeries } from './dashboard-options.js';
import type { ActionView, Backlog, Point, SeriesPoint, Tick } from './dashboard-view.js';
import type { EventBoard } from './event-board.js';
import { FilterWatch } from './filter-watch.js';
import { Rates } from './rates.js';
import { Ring } from './ring.js';
import type { Viewer } from './viewer.js';

/** While somebody looks. */
const TICK_MS = 1_000;
/** While nobody does: enough for charts that are not empty when a page opens. */
const IDLE_TICK_MS = 5_000;
/**
 * The more instances there are, the rarer each of them asks about all: together they ask no more than a few
 * times a second.
 */
const IDLE_PER_INSTANCE_MS = 500;
/** A page that opens waits so long for what the store knows of the other instances. */
const FIRST_ANSWER_MS = 500;
/** Events that come together are shown together. */
const HASTENED_MS = 50;
const POINTS = 300;
const SPARK_POINTS = 60;

export interface EventStreamContext {
  readonly service: BloomService;
  readonly events: EventBoard;
  readonly series: readonly BloomDashboardSeries[];
  actions(): readonly ActionView[];
}

/**
 * Looks at all filters about once a second, and sends what it sees to all open pages: one timer, however many
 * they are.
 */
export class EventStream {
  private readonly watches = new Map<string, FilterWatch>();
  private readonly viewers = new Set<Viewer>();
  private readonly seriesRates = new Rates();
  private readonly seriesPoints = new Ring<SeriesPoint>(POINTS);
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;
  private isWaking = false;
  private isHastened = false;
  private readonly logger = new Logger('Bloom');

  constructor(private readonly context: EventStreamContext) {}

  get viewerCount(): number {
    return this.viewers.size;
  }

  start(): void {
    this.tick();
  }

  /** Ends all streams, so that nothing holds up the end of the application. */
  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
    for (const viewer of this.viewers) viewer.close();
    this.viewers.clear();
  }

  /** @returns false after `stop`. */
  add(viewer: Viewer): boolean {
    if (this.isStopped) return false;
    this.viewers.add(viewer);
    void this.wake();
    return true;
  }

  remove(viewer: Viewer): void {
    this.viewers.delete(viewer);
  }

  /** Asks and shows at once, such as after an action. */
  async wake(): Promise<void> {
    if (this.isWaking || this.isStopped) return;
    this.isWaking = true;
    try {
      const asked = Promise.all(
        [...this.watches.values()].map((watch) => watch.ask({ withInfo: true, now: Date.now() })),
      );
      let patience: NodeJS.Timeout | undefined;
      await Promise.race([asked, new Promise((done) => (patience = setTimeout(done, FIRST_ANSWER_MS)))]);
      clearTimeout(patience);
    } finally {
      this.isWaking = false;
    }
    this.tick();
  }

  /** Shows at once what cannot wait for the next turn. */
  hasten(): void {
    if (this.isHastened || this.isStopped || this.viewers.size === 0) return;
    this.isHastened = true;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.tick(), HASTENED_MS).unref();
  }

  private tick(): void {
    if (this.isStopped) return;
    clearTimeout(this.timer);
    this.isHastened = false;
    const now = Date.now();
    const isWatched = this.viewers.size > 0;
    try {
      const { points, seriesPoint } = this.sample(now);
      if (isWatched) this.show({ now, points, seriesPoint });
      for (const watch of this.watches.values()) void watch.ask({ withInfo: isWatched, now });
    } catch (error) {
      // A mistake here must not end the application whose filters are shown.
      this.logger.error(withHelp(dashboardFailed('be updated', error)));
    }
    const pause = isWatched ? TICK_MS : this.idlePause();
    this.timer = setTimeout(() => this.tick(), Math.max(1, pause - (Date.now() - now))).unref();
  }

  private idlePause(): number {
    const instances = Math.max(1, ...[...this.watches.values()].map((watch) => watch.instanceCount));
    return Math.max(IDLE_TICK_MS, IDLE_PER_INSTANCE_MS * instances);
  }

  private sample(now: number): { points: Map<string, Point>; seriesPoint: SeriesPoint | undefined } {
    const points = new Map<string, Point>();
    for (const metrics of this.context.service.metrics()) {
      let watch = this.watches.get(metrics.filter);
      if (!watch) {
        watch = new FilterWatch(metrics.filter, this.context.service);
        this.watches.set(metrics.filter, watch);
      }
      points.set(metrics.filter, watch.sample(metrics, now));
    }
    return { points, seriesPoint: this.sampleSeries(now) };
  }

  private sampleSeries(now: number): SeriesPoint | undefined {
    const { series } = this.context;
    if (series.length === 0) return undefined;
    const read = series.map((one) => valueOf(one));
    const counters = new Map<string, number>();
    series.forEach(({ name, isCounter }, i) => {
      const value = read[i];
      if (isCounter && typeof value === 'number') counters.set(name, value);
    });
    this.seriesRates.observe([{ id: 'application', at: now, counters }]);
    const values = series.map(({ name, isCounter }, i) =>
      isCounter ? (counters.has(name) ? (this.seriesRates.of(name) ?? null) : null) : (read[i] ?? null),
    );
    const point = { at: now, values };
    this.seriesPoints.push(point);
    return point;
  }

  private show({
    now,
    points,
    seriesPoint,
  }: {
    now: number;
    points: ReadonlyMap<string, Point>;
    seriesPoint: SeriesPoint | undefined;
  }): void {
    const { events } = this.context;
    const common = {
      at: now,
      filters: [...this.watches.values()].map((watch) => watch.row(events.seenOf(watch.name))),
      actions: this.context.actions(),
      seriesPoint,
      events: events.takeFresh(),
    };
    // Once for all pages that show the same filter.
    const ticks = new Map<string | undefined, string>();
    for (const viewer of this.viewers) {
      if (!viewer.isReady(now)) continue;
      const filter = this.shownTo(viewer);
      if (viewer.needsBacklog) {
        viewer.needsBacklog = false;
        viewer.send('backlog', JSON.stringify(this.backlogFor(viewer, filter)));
      }
      let tick = ticks.get(filter?.name);
      if (tick === undefined) {
        const own: Tick = {
          ...common,
          detail: filter?.detail(),
          point: filter && points.get(filter.name),
        };
        tick = JSON.stringify(own);
        ticks.set(filter?.name, tick);
      }
      viewer.send('tick', tick);
    }
  }

  /** The first one for a page that names none, or one that there is not. */
  private shownTo({ filter }: Viewer): FilterWatch | undefined {
    return this.watches.get(filter ?? '') ?? this.watches.values().next().value;
  }

  private backlogFor({ canAct }: Viewer, filter: FilterWatch | undefined): Backlog {
    const { series, events } = this.context;
    return {
      canAct,
      // The last of each comes with the tick that follows.
      points: filter?.points().slice(0, -1) ?? [],
      sparks: Object.fromEntries(
        [...this.watches.values()].map((watch) => [
          watch.name,
          watch
            .points()
            .slice(-SPARK_POINTS - 1, -1)
            .map(({ saved }) => saved),
        ]),
      ),
      series: series.map(({ name, unit, isCounter }) => ({ name, unit: unit ?? (isCounter ? '/s' : '') })),
      seriesPoints: this.seriesPoints.all().slice(0, -1),
      events: events.all(),
    };
  }
}

/** Undefined for what is no number, and where the function of the user throws: the chart has a gap. */
function valueOf(series: BloomDashboardSeries): number | undefined {
  try {
    const value: unknown = series.read();
    return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
