import { BloomRebuildError } from '../../common/index.js';
import type { IdKey } from '../../filter/index.js';
import {
  type AdvisedFilter,
  type StoredFilter,
  type StoredFilterStatus,
  type BloomVerdict,
  type FilterDescription,
  type OpenFilterOptions,
  type LeaseRequest,
  type LookupOutcome,
  NO_RECORDER,
  type RebuildLease,
  type StagePlan,
  type Staging,
  type StoreRecorder,
  notRecorded,
  TIMED,
} from '../index.js';
import { BuildFacts } from './build-facts.js';
import type { InMemoryFilter } from './in-memory-filter.js';
import { LEASED_IN_MEMORY, STAGING_DROPPED } from './memory.messages.js';

interface Live<Filter extends InMemoryFilter> {
  readonly filter: Filter;
  readonly plan: StagePlan;
  /** Distinct ids of the build. */
  readonly ids: number;
  readonly builtAt: Date;
  /** By the clock of the store. */
  readonly since: number;
}

export class StoredFilterInMemory<Filter extends InMemoryFilter = InMemoryFilter> implements StoredFilter {
  protected live: Live<Filter> | undefined;
  protected added = 0;

  /** While nothing is live. */
  private state: 'unbuilt' | 'suspect' = 'unbuilt';
  protected staging: Filter | undefined;
  private builds = 0;
  private builtIds = 0;
  private leased = false;
  private readonly facts: BuildFacts;
  private lastAddAt = -Infinity;
  private readonly recorder: StoreRecorder;

  constructor(
    protected readonly options: OpenFilterOptions,
    private readonly create: (plan: StagePlan) => Filter,
  ) {
    this.facts = new BuildFacts(options.clock);
    this.recorder = options.recorder ?? NO_RECORDER;
  }

  get generation(): string | undefined {
    return this.live && String(this.builds);
  }

  get status(): StoredFilterStatus {
    return { state: this.live ? 'ready' : this.state, isCircuitOpen: false };
  }

  async check(ids: readonly IdKey[]): Promise<BloomVerdict[]> {
    const filter = this.live?.filter;
    const { recorder } = this;
    if (!filter) {
      recorder.recordUnknown(this.state, ids.length);
      return ids.map(() => 'unknown');
    }
    const since = performance.now();
    const found = verdicts(filter, ids);
    if (ids.length > 0) recorder.recordLocalTime((performance.now() - since) / ids.length);
    recorder.local += ids.length;
    return found;
  }

  checkOne(id: IdKey): LookupOutcome {
    const { live, recorder } = this;
    if (!live) {
      recorder.recordUnknown(this.state, 1);
      return this.state;
    }
    const since = (recorder.local++ & TIMED) === TIMED ? performance.now() : 0;
    const isFound = live.filter.mightContainKey(id);
    if (since > 0) recorder.recordLocalTime(performance.now() - since);
    return isFound ? 'maybe' : 'absent';
  }

  async add(ids: readonly IdKey[]): Promise<boolean[]> {
    const live = this.live?.filter;
    if (!live && !this.options.hasSource) throw notRecorded(this.options, this.state);
    for (const filter of [live, this.staging]) {
      if (filter) for (const id of ids) filter.assertFits(id);
    }
    const since = performance.now();
    this.lastAddAt = this.options.clock.now();
    const stagingAdds = ids.map((id) => this.staging?.addKey(id) ?? true);
    const added = live ? ids.map((id) => live.addKey(id)) : stagingAdds;
    this.added += added.filter(Boolean).length;
    this.reportLoad();
    this.recorder.recordAdd(ids.length, performance.now() - since);
    return added;
  }

  private reportLoad(): void {
    const { live, generation } = this;
    if (!live || generation === undefined) return;
    const count = live.ids + this.added;
    this.options.onLoad?.({ generation, count, capacity: live.filter.capacity });
  }

  async describe(): Promise<FilterDescription> {
    const { live } = this;
    const count = live ? live.ids + this.added : 0;
    return {
      state: live ? 'ready' : this.state,
      shape: live?.filter.shape(count),
      builds: this.builds,
      count,
      builtIds: this.builtIds,
      capacity: live?.filter.capacity ?? 0,
      errorRate: live?.plan.errorRate ?? 0,
      builtAt: live?.builtAt,
      rebuilding: this.staging !== undefined,
    };
  }

  /** Only this process knows the filter, so the caller knows when it distrusted it last. */
  async distrust(reason: string): Promise<boolean> {
    if (!this.live) return false;
    this.live = undefined;
    this.state = 'suspect';
    const { emit, name } = this.options;
    emit({ type: 'state-changed', filter: name, state: this.state, reason });
    return true;
  }

  async verify(): Promise<void> {}

  async advise({ leaseMs }: AdvisedFilter): Promise<readonly string[]> {
    return leaseMs === undefined ? [] : [LEASED_IN_MEMORY];
  }

  async lease({ occasion, onNotDue }: LeaseRequest): Promise<RebuildLease | undefined> {
    if (this.leased) return undefined;
    const dueInMs = occasion ? this.facts.dueInMs(occasion) : 0;
    if (dueInMs > 0) {
      onNotDue?.(dueInMs);
      return undefined;
    }
    this.leased = true;
    if (occasion) this.facts.begin(occasion);
    const lost = new AbortController();
    return {
      signal: lost.signal,
      stage: async (plan) => this.stage(plan),
      release: async (outcome) => {
        if (this.leased && occasion) this.facts.end(outcome);
        this.leased = false;
        this.staging = undefined;
      },
    };
  }

  async close(): Promise<void> {
    this.live = undefined;
    this.staging = undefined;
  }

  private stage(plan: StagePlan): Staging {
    const staging = this.create(plan);
    const scan = staging.scan();
    this.staging = staging;
    const addedBefore = this.added;
    const assertStaging = () => {
      if (this.staging !== staging) throw new BloomRebuildError('staging-damaged', STAGING_DROPPED);
    };
    return {
      capacity: scan.capacity,
      bytes: staging.bytes,
      quietMs: this.options.clock.now() - this.lastAddAt,
      local: scan.local,
      get isOutgrown() {
        return scan.isOutgrown;
      },
      merge: async (signal) => {
        signal.throwIfAborted();
        for (const _ of scan.merge()) {
          await new Promise(setImmediate);
          signal.throwIfAborted();
          assertStaging();
        }
      },
      check: async (ids) => verdicts(staging, ids),
      commit: async (ids) => {
        assertStaging();
        this.live = { filter: staging, plan, ids, builtAt: new Date(), since: this.options.clock.now() };
        this.staging = undefined;
        this.added -= addedBefore;
        this.builtIds = ids;
        this.builds++;
      },
      abort: async () => {
        if (this.staging === staging) this.staging = undefined;
      },
    };
  }
}

function verdicts(filter: InMemoryFilter, ids: readonly IdKey[]): BloomVerdict[] {
  return ids.map((id) => (filter.mightContainKey(id) ? 'maybe' : 'absent'));
}
