import { BloomConfigError, BloomUnavailableError } from '../common/index.js';
import { type BloomId, type IdKey, isLongerThan } from '../filter/index.js';
import type { BloomIdSource, BloomRebuildReport, RebuildRequest } from '../rebuild/index.js';
import {
  type AdvisedFilter,
  type BloomVerdict,
  type LookupOutcome,
  type SharedNegativeCache,
  type StoredFilter,
  verdictOf,
} from '../store/index.js';
import {
  type AddOrigin,
  type BloomBatchOptions,
  BloomFilter,
  type BloomFilterInfo,
  type FalseNegativeReport,
  type GuardableFilter,
  type FailedAddsReport,
} from './bloom-filter.js';
import { FailedAdds, findOverfull, LoadAlarm } from './fill-alarms.js';
import type { FilterDefinition } from './filter-definition.js';
import type { FilterEnvironment } from './filter-environment.js';
import { FilterBuilds } from './filter-builds.js';
import { filterInfo, metricsOf } from './filter-info.js';
import { FilterInstances } from './filter-instances.js';
import type { Coverage } from './freshness/coverage.js';
import { type Freshness, noneCovered, openFreshness } from './freshness/freshness.js';
import { guardedBatch } from './guarded-batch.js';
import { GuardState } from './guard-state.js';
import { IdKeys, noKeyEvent } from './id-keys.js';
import { LookupCounts } from './filter-counts.js';
import { LookupBudget, type LookupRank } from './lookup-budget.js';
import type { BloomFilterMetrics } from './metrics.js';
import { denialsOf, openInStore } from './opened-filter.js';
import {
  adoptWithSource,
  cannotRemove,
  noSource,
  notAdoptable,
  notEmptied,
  resetOfPeersKey,
  resetWithSource,
  newestNotKnown,
} from './service.messages.js';
import { FalseNegatives } from './false-negatives.js';
import { SeenIds } from './seen-ids.js';

/**
 * A filter of the application: forms keys, holds the filter of the store, and runs rebuilds until the
 * application ends.
 */
export class ManagedFilter extends BloomFilter implements GuardableFilter {
  readonly name: string;
  readonly guarding: GuardState;
  readonly keys: IdKeys;
  readonly sharedCache: SharedNegativeCache | undefined;

  readonly instances: FilterInstances;
  readonly lookups = new LookupCounts();
  readonly advice = new Set<string>();
  /** When the schedule of this process rebuilds it next; undefined without a schedule. */
  nextRunAt: (() => Date | undefined) | undefined;
  freshness: Freshness | undefined;
  private coverage: Coverage | undefined;
  private isFollowing = false;
  private readonly inStore: StoredFilter;
  private readonly builds: FilterBuilds;
  private readonly load: LoadAlarm;
  private readonly failedAdds: FailedAdds;
  private isClosed = false;
  private readonly falseNegatives: FalseNegatives;

  constructor(
    readonly definition: FilterDefinition,
    private readonly context: FilterEnvironment,
  ) {
    super();
    this.name = definition.name;
    this.keys = new IdKeys(definition);
    const { name, capacity, errorRate, layout, negativeCache } = definition;
    const { clock, emit } = context;
    this.load = new LoadAlarm(capacity, () => {
      if (!this.isClosed) void this.lookAtLoad();
    });
    this.inStore = openInStore(definition, {
      ...context,
      emit: (event) => {
        this.falseNegatives.onEvent(event);
        emit(event);
      },
      onLoad: this.load.record,
      recorder: this.lookups,
      contents: async () => ({ spelling: this.keys.spelling, rows: await definition.readsFrom() }),
      covers: () => this.freshness?.coveredByCopy(),
    });
    this.sharedCache = this.inStore.negativeCache;
    this.guarding = new GuardState({
      ...definition,
      clock,
      negativeCache: this.sharedCache ? false : denialsOf(negativeCache),
    });
    const settings = context.budget;
    this.guarding.seen = settings && new SeenIds();
    this.guarding.budget =
      settings &&
      new LookupBudget({ filter: name, settings, clock, emit, rankOf: (key) => this.rankOf(key) });
    this.failedAdds = new FailedAdds(this, capacity, emit);
    this.instances = new FilterInstances(definition, this.inStore, {
      ...context,
      guarding: this.guarding,
      metrics: () => this.metrics(),
    });
    this.builds = new FilterBuilds({
      instances: this.instances,
      job: {
        ...definition,
        ...context,
        store: this.inStore,
        toKey: (id) => this.keys.of(id),
        spellsAs: (normalize) => this.keys.spellsAs(normalize),
        bytesFor: (ids) => layout.bytes({ errorRate, capacity: Math.max(1, ids) }),
        isNewTable: () => this.freshness?.isOfNewTable === true,
      },
      onPublished: () => this.guarding.recordRebuilt(),
    });
    const hasSource = definition.source !== undefined;
    this.falseNegatives = new FalseNegatives({ filter: this, hasSource, emit, store: this.inStore });
    if (definition.awaitsOrder) this.coverage = noneCovered(this);
    else this.follow();
  }

  /**
   * Follows external writes as the source says by now. To be called once, when it is made.
   *
   * @throws {BloomConfigError} for a source that is not what the options need.
   */
  follow(): void {
    if (this.definition.awaitsOrder) this.definition.checkSource();
    this.isFollowing = true;
    this.freshness = openFreshness(this, this.inStore, this.context);
    this.coverage = this.freshness?.coverage;
  }

  get generation(): string | undefined {
    return this.inStore.generation;
  }

  get drainMs(): number {
    return this.definition.drainMs;
  }

  check(id: BloomId): Promise<BloomVerdict> {
    const key = this.lookUpKey(id);
    if (key !== undefined && this.guarding.isQueued(key, this.keys)) return RESOLVED.maybe;
    if (key === undefined) return RESOLVED.unknown;
    const outcome = this.checkKey(key);
    return typeof outcome === 'string' ? RESOLVED[verdictOf(outcome)] : outcome.then(verdictOf);
  }

  guardBatch<Id extends BloomId, Row>(
    load: (ids: Id[]) => Promise<readonly Row[]>,
    options?: BloomBatchOptions<Row>,
  ): (ids: readonly Id[]) => Promise<(Row | null)[]> {
    return guardedBatch({ filter: this, emit: this.context.emit }, load, options);
  }

  checkKey(key: IdKey): LookupOutcome | Promise<LookupOutcome> {
    const { coverage } = this;
    return coverage ? coverage.checkOne(this.inStore, key) : this.inStore.checkOne(key);
  }

  isBeyond(key: IdKey): boolean {
    return this.coverage?.isBeyond(key) ?? false;
  }

  async checkMany(ids: readonly BloomId[]): Promise<BloomVerdict[]> {
    const keys = ids.map((id) => this.lookUpKey(id));
    // Before the filter is asked: an id leaves the queue when it is in the filter.
    const queued =
      this.guarding.queued && keys.map((key) => key !== undefined && this.guarding.isQueued(key, this.keys));
    const asked = keys.filter((key) => key !== undefined);
    const { coverage } = this;
    const verdicts = await (coverage ? coverage.check(this.inStore, asked) : this.inStore.check(asked));
    let next = 0;
    const answers = keys.map((key) => (key === undefined ? 'unknown' : verdicts[next++]!));
    return queued ? answers.map((verdict, i) => (queued[i] ? 'maybe' : verdict)) : answers;
  }

  async mightContain(id: BloomId): Promise<boolean> {
    return (await this.check(id)) !== 'absent';
  }

  async mightContainMany(ids: readonly BloomId[]): Promise<boolean[]> {
    return (await this.checkMany(ids)).map((verdict) => verdict !== 'absent');
  }

  async add(id: BloomId): Promise<boolean> {
    return (await this.addKeys([this.keys.ofAdded(id)]))[0]!;
  }

  async addMany(ids: readonly BloomId[]): Promise<boolean[]> {
    return this.addKeys(ids.map((id) => this.keys.ofAdded(id)));
  }

  async addKeys(keys: readonly IdKey[], origin: AddOrigin = 'application'): Promise<boolean[]> {
    if (keys.length === 0) return [];
    // Which ids other processes may deny is known when the source is made.
    const isHeldByEach = this.context.store.kind === 'memory' || this.definition.replica === 'covered';
    if (this.definition.awaitsOrder && !this.isFollowing && isHeldByEach)
      throw new BloomUnavailableError(newestNotKnown(this.name));
    if (origin === 'application') await this.freshness?.admit(keys);
    this.guarding.recordAdded(keys);
    // Without a source, an id that is added before the filter exists would be lost for good.
    if (!this.definition.source) await this.create();
    const added = await this.inStore.add(keys);
    this.guarding.recordAdded(keys);
    this.load.recordNew(added.filter(Boolean).length);
    return added;
  }

  async remove(id: BloomId): Promise<boolean> {
    const key = this.keys.of(id);
    const { layout, mayBeExact } = this.definition;
    if (!this.inStore.remove || !(layout.canRemove || mayBeExact)) {
      throw new BloomConfigError(cannotRemove(this.name, layout.kind));
    }
    return (await this.inStore.remove([key]))[0]!;
  }

  async rebuild(request: RebuildRequest = {}): Promise<BloomRebuildReport> {
    const { source } = this.definition;
    if (!source) throw new BloomConfigError(noSource(this.name));
    const build = (from: BloomIdSource) =>
      this.builds.rebuild(from, { occasion: { kind: 'manual' }, ...request });
    return this.freshness ? this.freshness.build(source, build) : build(source);
  }

  async adopt(): Promise<void> {
    if (!this.inStore.adopt) {
      throw new BloomConfigError(notAdoptable(this.name, this.definition.layout.kind));
    }
    if (this.definition.source) throw new BloomConfigError(adoptWithSource(this.name));
    await this.inStore.adopt();
  }

  async reset(): Promise<void> {
    if (this.inStore.adopt) throw new BloomConfigError(resetOfPeersKey(this.name));
    if (this.definition.source) throw new BloomConfigError(resetWithSource(this.name));
    const report = await this.builds.empty();
    if (report.outcome === 'skipped') {
      throw new BloomUnavailableError(notEmptied(this.name, report.reason));
    }
  }

  async info(): Promise<BloomFilterInfo> {
    const { definition, inStore, context, lookups } = this;
    const observed = this.guarding.counts();
    const info = await filterInfo(inStore, { definition, store: context.store.kind, observed, lookups });
    return this.freshness ? { ...info, outside: await this.freshness.info() } : info;
  }

  metrics(): BloomFilterMetrics {
    const { progress, lastPhases } = this.instances;
    return metricsOf(this, this.inStore, { progress, lastPhases, nextRunAt: this.nextRunAt?.() });
  }

  /**
   * Reports a filter that holds more than planned by `overfull`, and returns what was found. Never rejects.
   */
  lookAtLoad(): Promise<BloomFilterInfo | undefined> {
    return findOverfull(this, () => this.inStore.describe(), this.context.emit);
  }

  async reportFalseNegative(report: FalseNegativeReport): Promise<void> {
    try {
      await this.falseNegatives.report(report);
    } catch (error) {
      const { emit } = this.context;
      emit({ type: 'store-error', filter: this.name, operation: 'report a wrong absent', error });
    }
  }

  reportFailedAdds(report: FailedAddsReport): void {
    if (!this.isClosed) this.failedAdds.record(report);
  }

  /** What in the setup of the store endangers the filter, each text with the remedy. */
  advise(filter: AdvisedFilter): Promise<readonly string[]> {
    return this.inStore.advise(filter);
  }

  async verify(): Promise<void> {
    await this.inStore.verify();
  }

  /** Creates a filter without a source, empty, unless it exists or somebody else has to create it. */
  create(): Promise<void> {
    const isMadeElsewhere = this.inStore.adopt !== undefined || this.definition.create === 'explicit';
    return isMadeElsewhere ? Promise.resolve() : this.builds.create();
  }

  async stopRebuilds(): Promise<void> {
    await Promise.all([this.freshness?.stop(), this.builds.stop()]);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.guarding.budget?.close();
    await this.stopRebuilds();
    await this.instances.close();
    await this.inStore.close();
  }

  private rankOf(key: IdKey): LookupRank {
    if (isLongerThan(key, this.definition.maxIdBytes)) return 'other';
    if (this.guarding.seen!.has(key) || this.inStore.hasHint?.(key)) return 'hinted';
    return this.coverage?.isNear(key) ? 'near' : 'other';
  }

  private lookUpKey(id: unknown): IdKey | undefined {
    try {
      return this.keys.of(id);
    } catch (error) {
      this.lookups.recordUnknown('invalid-id', 1);
      this.context.emit(noKeyEvent(this.name, error));
      return undefined;
    }
  }
}

/** A promise for each verdict, shared: a lookup of an id that this process knows makes none. */
export const RESOLVED: Readonly<Record<BloomVerdict, Promise<BloomVerdict>>> = {
  absent: Promise.resolve('absent'),
  maybe: Promise.resolve('maybe'),
  unknown: Promise.resolve('unknown'),
};
