import { hostname } from 'node:os';
import type {
  BloomFilterInfo,
  BloomFilterMetrics,
  BloomInstance,
  BloomInstances,
  BloomService,
} from 'nestjs-bloom';
import { countersOf, PATHS, quantile } from './counters.js';
import type { FilterDetail, FilterRow, Point } from './dashboard-view.js';
import { detailOf, rowOf } from './filter-view.js';
import { Rates } from './rates.js';
import { Ring } from './ring.js';

/** Length of the charts: five minutes while somebody looks. */
const POINTS = 300;
/** Counting the bits of a sample costs more than anything else that is shown, and changes slowly. */
const INFO_EVERY_MS = 5_000;

export type NumberOrGap = number | null;

/** What is known of one filter in all instances, and what was. */
export class FilterWatch {
  private readonly rates = new Rates();
  private readonly history = new Ring<Point & { readonly calls: NumberOrGap }>(POINTS);
  private metrics: BloomFilterMetrics | undefined;
  private others: BloomInstances | undefined;
  private info: BloomFilterInfo | undefined;
  private infoAt = -Infinity;
  private infoOf = '';
  private asking: Promise<void> | undefined;
  private isAlone = false;
  private isUnavailable = false;

  constructor(
    readonly name: string,
    private readonly service: BloomService,
  ) {}

  /** How many instances reported when they were last asked about. */
  get instanceCount(): number {
    return this.others?.instances.length ?? 1;
  }

  /** Takes what this process knows, and what was last heard of the others. Asks nobody. */
  sample(metrics: BloomFilterMetrics, now: number): Point {
    this.metrics = metrics;
    const readings = this.instances(now).map(({ id, seenAt, metrics }) => ({
      id,
      at: seenAt.getTime(),
      counters: countersOf(metrics),
    }));
    this.rates.observe(readings);
    const point = this.pointAt(now);
    this.history.push(point);
    return point;
  }

  /**
   * Asks the store about the other instances, and now and then about the filter itself. One question at a
   * time; never rejects.
   */
  ask({ withInfo, now }: { withInfo: boolean; now: number }): Promise<void> {
    this.asking ??= Promise.all([this.askInstances(), withInfo && this.askInfo(now)])
      .then(() => {})
      .finally(() => (this.asking = undefined));
    return this.asking;
  }

  points(): readonly Point[] {
    return this.history.all();
  }

  /** @param seen what events of this process say of the filter */
  row(seen: Pick<FilterRow, 'stateSince' | 'attackSince'>): FilterRow {
    const { metrics, others, info, isUnavailable, isAlone } = this;
    return rowOf({
      metrics: metrics!,
      instances: this.instances(Date.now()),
      others,
      info,
      isUnavailable,
      isAlone,
      seen,
      rates: this.rates,
      savedShare: this.savedShare(),
    });
  }

  detail(): FilterDetail {
    return detailOf({
      name: this.name,
      instances: this.instances(Date.now()),
      rebuilds: this.others?.rebuilds ?? [],
      rates: this.rates,
    });
  }

  private pointAt(now: number): Point & { readonly calls: NumberOrGap } {
    const rate = (name: string) => this.rates.of(name) ?? null;
    const [local, remote, add] = PATHS.map((path) => {
      const { bounds } = this.metrics!.latencyMs[path];
      const counts = Array.from({ length: bounds.length + 1 }, (_, i) => this.rates.of(`${path}.${i}`) ?? 0);
      return quantile(0.95, { bounds, counts }) ?? null;
    });
    const [absent, maybe, unknown, invalid, remembered] = [
      rate('absent'),
      rate('maybe'),
      rate('unknown'),
      rate('invalid'),
      rate('remembered'),
    ];
    const calls = absent === null ? null : absent + maybe! + unknown! + invalid! + remembered!;
    return {
      at: now,
      absent,
      maybe,
      unknown: unknown === null ? null : unknown + invalid!,
      remembered,
      saved: rate('saved'),
      local: local!,
      remote: remote!,
      add: add!,
      calls,
    };
  }

  private savedShare(): number | undefined {
    let [saved, calls, before] = [0, 0, undefined as number | undefined];
    for (const point of this.history.all()) {
      const elapsed = before === undefined ? 0 : point.at - before;
      before = point.at;
      saved += (point.saved ?? 0) * elapsed;
      calls += (point.calls ?? 0) * elapsed;
    }
    return calls > 0 ? Math.min(1, saved / calls) : undefined;
  }

  /** Those that report; this one with what it knows now and not with what it reported last. */
  private instances(now: number): readonly BloomInstance[] {
    const metrics = this.metrics!;
    const reported = this.others?.instances ?? [];
    const here = reported.filter(({ host, pid }) => host === hostname() && pid === process.pid);
    // Applications that share a process, as in tests, are told apart by their reports alone.
    if (here.length > 1) return reported;
    const self: BloomInstance = {
      ...(here[0] ?? { id: 'this process', host: hostname(), pid: process.pid, startedAt: STARTED_AT }),
      seenAt: new Date(now),
      metrics,
    };
    return here[0] ? reported.map((one) => (one === here[0] ? self : one)) : [self, ...reported];
  }

  private async askInstances(): Promise<void> {
    try {
      this.others = await this.service.instances(this.name);
      this.isAlone = false;
    } catch {
      // What was heard last has gone stale; this process is shown all the same.
      this.others = undefined;
      this.isAlone = true;
    }
  }

  private async askInfo(now: number): Promise<void> {
    const { state } = this.metrics ?? {};
    const latest = this.others?.rebuilds[0]?.startedAt.getTime();
    // A filter that was just built is another one.
    const of = `${state} ${latest}`;
    if (this.infoOf === of && now - this.infoAt < INFO_EVERY_MS && !this.isUnavailable) return;
    this.infoAt = now;
    this.infoOf = of;
    try {
      this.info = await this.service.filter(this.name).info();
      this.isUnavailable = false;
    } catch {
      this.info = undefined;
      this.isUnavailable = true;
    }
  }
}

const STARTED_AT = new Date(Date.now() - process.uptime() * 1000);
