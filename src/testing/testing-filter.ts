import { BloomUnavailableError } from '../common/index.js';
import { blocked, type IdKey, idKeyText, isFilterLayout, isLongerThan, tooLong } from '../filter/index.js';
import {
  type BloomVerdict,
  type FilterDescription,
  type LeaseRequest,
  type LookupOutcome,
  NO_RECORDER,
  type OpenFilterOptions,
  type RebuildLease,
  type StagePlan,
  type Staging,
  type StoredFilter,
  type StoredFilterStatus,
  verdictOf,
} from '../store/index.js';
import type { Behaviour } from './tested-filters.js';
import { filterIsDown } from './testing.messages.js';

/** An exact set in place of a Bloom filter, so that a test sees no false positive. Ready from the start. */
export class TestingFilter implements StoredFilter {
  private ids = new Set<string>();
  /** What a build has staged: adds of the meantime are in both. */
  private staging: Set<string> | undefined;
  private generationNumber = 1;
  private builtAt = new Date();
  private builtIds = 0;

  /** Undefined for a layout that cannot remove. */
  readonly remove: StoredFilter['remove'];
  /** Undefined where no other system fills the filter. */
  readonly adopt: StoredFilter['adopt'];

  constructor(
    private readonly options: OpenFilterOptions,
    private readonly behaviour: Behaviour['kind'],
  ) {
    const { layout, hasSource } = options;
    if (!isFilterLayout(layout)) return;
    // A filter of no other layout may have integers, which can be removed.
    if (layout.canRemove || layout.kind === blocked.kind) this.remove = (ids) => this.removeIds(ids);
    if (layout.isMadeByOthers && !hasSource) this.adopt = async () => this.assertUp();
  }

  get generation(): string {
    return String(this.generationNumber);
  }

  get status(): StoredFilterStatus {
    return { state: this.behaviour === 'down' ? undefined : 'ready', isCircuitOpen: false };
  }

  fill(ids: readonly IdKey[]): void {
    for (const id of ids) addTo(this.ids, id);
  }

  async check(ids: readonly IdKey[]): Promise<BloomVerdict[]> {
    return ids.map((id) => verdictOf(this.checkOne(id)));
  }

  checkOne(id: IdKey): LookupOutcome {
    const { recorder = NO_RECORDER } = this.options;
    if (this.behaviour === 'down') {
      recorder.recordUnknown('error', 1);
      return 'error';
    }
    recorder.local++;
    return this.behaviour === 'pass-all' || this.ids.has(idKeyText(id)) ? 'maybe' : 'absent';
  }

  async add(ids: readonly IdKey[]): Promise<boolean[]> {
    const { maxIdBytes } = this.options.plan;
    if (ids.some((id) => isLongerThan(id, maxIdBytes))) throw tooLong(maxIdBytes);
    this.assertUp();
    for (const id of this.staging ? ids : []) addTo(this.staging!, id);
    return ids.map((id) => addTo(this.ids, id));
  }

  async describe(): Promise<FilterDescription> {
    this.assertUp();
    const { capacity, errorRate } = this.options.plan;
    return {
      state: 'ready',
      shape: { hashCount: 1, bytes: 0, modelledErrorRate: 0 },
      builds: this.generationNumber,
      count: this.ids.size,
      builtIds: this.builtIds,
      capacity,
      errorRate,
      builtAt: this.builtAt,
      rebuilding: false,
    };
  }

  /** The filter of a test goes on as the test has set it. */
  async distrust(): Promise<boolean> {
    return true;
  }

  async verify(): Promise<void> {}

  async advise(): Promise<readonly string[]> {
    return [];
  }

  /** Builds that are asked for take place. Schedules never build in a test. */
  async lease({ occasion, onNotDue }: LeaseRequest): Promise<RebuildLease | undefined> {
    this.assertUp();
    if (occasion && occasion.kind !== 'manual') {
      onNotDue?.(24 * 60 * 60 * 1000);
      return undefined;
    }
    return {
      signal: new AbortController().signal,
      stage: async (plan) => this.stage(plan),
      release: async () => {},
    };
  }

  async close(): Promise<void> {}

  private async removeIds(ids: readonly IdKey[]): Promise<boolean[]> {
    this.assertUp();
    return ids.map((id) => this.ids.delete(idKeyText(id)));
  }

  private stage({ maxIdBytes }: StagePlan): Staging {
    const staging = new Set<string>();
    this.staging = staging;
    const addKey = (id: IdKey) => {
      if (isLongerThan(id, maxIdBytes)) throw tooLong(maxIdBytes);
      return addTo(staging, id);
    };
    return {
      capacity: Infinity,
      bytes: 0,
      quietMs: Infinity,
      local: { addKey },
      merge: async () => {},
      check: async (ids) => ids.map((id) => (staging.has(idKeyText(id)) ? 'maybe' : 'absent')),
      commit: async (ids) => {
        this.ids = staging;
        this.staging = undefined;
        this.generationNumber++;
        this.builtAt = new Date();
        this.builtIds = ids;
      },
      abort: async () => {
        this.staging = undefined;
      },
    };
  }

  private assertUp(): void {
    if (this.behaviour !== 'down') return;
    throw new BloomUnavailableError(filterIsDown(this.options.name));
  }
}

function addTo(ids: Set<string>, id: IdKey): boolean {
  const text = idKeyText(id);
  if (ids.has(text)) return false;
  ids.add(text);
  return true;
}
