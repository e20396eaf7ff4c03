import {
  BloomConfigError,
  BloomIdError,
  BloomRebuildError,
  type BuildOccasion,
  type BuildOutcome,
  type FilterDescription,
  type FilterStore,
  FIRST_BUILD_PAUSE_MS,
  type IdKey,
  isLongerThan,
  LAST_BUILD_PAUSE_MS,
  type LookupOutcome,
  type LeaseRequest,
  notRecorded,
  type OpenFilterOptions,
  type RebuildLease,
  type StagePlan,
  type Staging,
  type StoredFilter,
  verdictOf,
} from 'nestjs-bloom/store';

/**
 * A store as somebody else may write one, with what the package exports alone: it keeps the ids themselves,
 * in this process.
 */
export class SetStore implements FilterStore {
  readonly kind = 'sets';
  private readonly filters = new Map<string, SetFilter>();

  open(options: OpenFilterOptions): StoredFilter {
    const { name, layout } = options;
    if (layout.kind !== 'blocked') {
      throw new BloomConfigError(`Filter '${name}': this store has no filters of the layout ${layout.kind}.`);
    }
    const filter = new SetFilter(options);
    this.filters.set(name, filter);
    return filter;
  }

  async close(): Promise<void> {}
}

interface Generation {
  readonly ids: Set<string>;
  readonly plan: StagePlan;
  built: number;
  builtAt: Date | undefined;
}

const textOf = (id: IdKey) => Buffer.from(id as string).toString('latin1');

export class SetFilter implements StoredFilter {
  protected live: Generation | undefined;
  protected staged: Generation | undefined;
  private state: 'unbuilt' | 'suspect' = 'unbuilt';
  private isLeased = false;
  private builds = 0;
  private builtIds = 0;
  private lastAddAt = -Infinity;
  private began = -Infinity;
  private beganFor: BuildOccasion['kind'] | undefined;
  private publishedAt = -Infinity;
  private failures = 0;
  private dueAt = -Infinity;

  constructor(protected readonly options: OpenFilterOptions) {}

  get generation(): string | undefined {
    return this.live && String(this.builds);
  }

  get status() {
    return { state: this.live ? ('ready' as const) : this.state, isCircuitOpen: false };
  }

  async check(ids: readonly IdKey[]) {
    return ids.map((id) => verdictOf(this.checkOne(id)));
  }

  checkOne(id: IdKey): LookupOutcome {
    if (!this.live) return this.state;
    return this.live.ids.has(textOf(id)) ? 'maybe' : 'absent';
  }

  async add(ids: readonly IdKey[]): Promise<boolean[]> {
    const { options, live, staged } = this;
    if (!live && !options.hasSource) throw notRecorded(options, this.state);
    for (const id of ids) {
      for (const one of [live, staged]) {
        if (one && isLongerThan(id, one.plan.maxIdBytes)) throw new BloomIdError('The id is too long.');
      }
    }
    this.lastAddAt = options.clock.now();
    const isNew = ids.map((id) => addTo(live ?? staged, id));
    if (live) for (const id of ids) addTo(staged, id);
    return isNew;
  }

  async describe(): Promise<FilterDescription> {
    const { live, builds, builtIds } = this;
    const count = live?.ids.size ?? 0;
    return {
      state: this.status.state,
      builds,
      count,
      builtIds,
      rebuilding: this.staged !== undefined,
      capacity: live?.plan.capacity ?? 0,
      errorRate: live?.plan.errorRate ?? 0,
      builtAt: live?.builtAt,
      shape: live && { hashCount: 1, bytes: 16 * live.plan.capacity, modelledErrorRate: 0 },
    };
  }

  async distrust(): Promise<boolean> {
    if (!this.live) return false;
    this.live = undefined;
    this.state = 'suspect';
    return true;
  }

  async verify(): Promise<void> {}

  async advise(): Promise<readonly string[]> {
    return [];
  }

  async lease({ occasion, onNotDue }: LeaseRequest): Promise<RebuildLease | undefined> {
    if (this.isLeased) return undefined;
    const dueInMs = occasion ? this.dueInMs(occasion) : 0;
    if (dueInMs > 0) {
      onNotDue?.(dueInMs);
      return undefined;
    }
    this.isLeased = true;
    const before = this.began;
    this.began = this.options.clock.now();
    this.beganFor = occasion?.kind;
    return {
      signal: new AbortController().signal,
      stage: async (plan) => this.stage(plan),
      release: async (outcome) => {
        if (outcome && occasion) this.ended(outcome);
        else this.began = before;
        this.isLeased = false;
        this.staged = undefined;
      },
    };
  }

  async close(): Promise<void> {}

  private stage(plan: StagePlan): Staging {
    const made: Generation = { ids: new Set(), plan, built: 0, builtAt: undefined };
    const read = new Set<string>();
    this.staged = made;
    return {
      capacity: plan.capacity,
      bytes: plan.capacity,
      quietMs: this.options.clock.now() - this.lastAddAt,
      local: {
        addKey: (id) => {
          const isNew = !read.has(textOf(id));
          read.add(textOf(id));
          return isNew;
        },
      },
      merge: async (signal) => {
        signal.throwIfAborted();
        for (const id of read) made.ids.add(id);
      },
      check: async (ids) => ids.map((id) => (made.ids.has(textOf(id)) ? 'maybe' : 'absent')),
      commit: async (ids) => {
        if (this.staged !== made)
          throw new BloomRebuildError('staging-damaged', 'Another staging took its place.');
        made.builtAt = new Date();
        this.live = made;
        this.staged = undefined;
        this.builds++;
        this.builtIds = ids;
      },
      abort: async () => {
        if (this.staged === made) this.staged = undefined;
      },
    };
  }

  private dueInMs(occasion: BuildOccasion): number {
    const now = this.options.clock.now();
    const pause = Math.max(0, this.dueAt - now);
    if (occasion.kind === 'manual') return 0;
    if (occasion.kind === 'recovery') return pause;
    const last = Math.max(this.publishedAt, this.beganFor === occasion.kind ? this.began : -Infinity);
    const within = Math.max(0, last + occasion.withinMs - now);
    return occasion.kind === 'scheduled' ? within : Math.max(within, pause);
  }

  private ended(outcome: BuildOutcome): void {
    if (outcome.kind === 'published') {
      this.publishedAt = this.began;
      this.failures = 0;
      this.dueAt = -Infinity;
      return;
    }
    const pauseMs = Math.min(LAST_BUILD_PAUSE_MS, FIRST_BUILD_PAUSE_MS * 2 ** this.failures++);
    this.dueAt = this.options.clock.now() + Math.max(pauseMs, outcome.retryAfterMs ?? 0);
  }
}

function addTo(generation: Generation | undefined, id: IdKey): boolean {
  const text = textOf(id);
  if (!generation) return true;
  const isNew = !generation.ids.has(text);
  generation.ids.add(text);
  return isNew;
}
