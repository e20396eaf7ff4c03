import { BloomRebuildError } from '../../common/index.js';
import { BlockedFilter, BLOCK_BYTES, type Generation, type IdKey, tooLong } from '../../filter/index.js';
import type {
  BloomFilterStore,
  BloomVerdict,
  BuiltGeneration,
  FilterDescription,
  OpenFilterOptions,
  RebuildLease,
  Staging,
} from '../index.js';

/** Bytes merged before the event loop gets its turn. */
const MERGE_STEP_BYTES = 1 << 20;

interface Live extends BuiltGeneration {
  readonly filter: BlockedFilter;
  readonly builtAt: Date;
}

export class MemoryFilterStore implements BloomFilterStore {
  private live: Live | undefined;
  private staged: BlockedFilter | undefined;
  private builds = 0;
  private builtIds = 0;
  private added = 0;
  private leased = false;
  private lastAddAt = -Infinity;

  private state: 'unbuilt' | 'suspect' = 'unbuilt';

  constructor(private readonly options: OpenFilterOptions) {}

  async check(ids: readonly IdKey[]): Promise<BloomVerdict[]> {
    return verdicts(this.live?.filter, ids);
  }

  checkOne(id: IdKey): BloomVerdict {
    const filter = this.live?.filter;
    if (!filter) return 'unknown';
    return filter.mightContainKey(id) ? 'maybe' : 'absent';
  }

  async add(ids: readonly IdKey[]): Promise<boolean[]> {
    const live = this.live?.filter;
    for (const filter of [live, this.staged]) {
      if (filter && !ids.every((id) => filter.layout.locate(id))) throw tooLong(filter.generation.maxIdBytes);
    }
    this.lastAddAt = this.options.clock.now();
    const stagedAdds = ids.map((id) => this.staged?.addKey(id) ?? true);
    const added = live ? ids.map((id) => live.addKey(id)) : stagedAdds;
    this.added += added.filter(Boolean).length;
    return added;
  }

  async describe(): Promise<FilterDescription> {
    const { live } = this;
    return {
      state: live ? 'ready' : this.state,
      generation: live?.filter.generation,
      builds: this.builds,
      count: live ? live.ids + this.added : 0,
      builtIds: this.builtIds,
      capacity: live?.capacity ?? 0,
      errorRate: live?.errorRate ?? 0,
      builtAt: live?.builtAt,
      rebuilding: this.staged !== undefined,
    };
  }

  async distrust(reason: string): Promise<void> {
    if (!this.live) return;
    this.live = undefined;
    this.state = 'suspect';
    const { emit, name } = this.options;
    emit({ type: 'state-changed', filter: name, state: this.state, reason });
  }

  async advise(): Promise<readonly string[]> {
    return [];
  }

  async lease(): Promise<RebuildLease | undefined> {
    if (this.leased) return undefined;
    this.leased = true;
    const lost = new AbortController();
    return {
      signal: lost.signal,
      stage: async (generation) => this.stage(generation),
      release: async () => {
        this.leased = false;
        this.staged = undefined;
      },
    };
  }

  async close(): Promise<void> {
    this.live = undefined;
    this.staged = undefined;
  }

  private stage(generation: Generation): Staging {
    const staged = new BlockedFilter(generation);
    this.staged = staged;
    const addedBefore = this.added;
    const assertStaged = () => {
      if (this.staged !== staged)
        throw new BloomRebuildError('staging-damaged', 'The staged generation was dropped.');
    };
    return {
      generation,
      quietMs: this.options.clock.now() - this.lastAddAt,
      merge: async (filter, signal) => {
        for (let at = 0; at < filter.bytes.length; at += MERGE_STEP_BYTES) {
          signal.throwIfAborted();
          assertStaged();
          or(staged.bytes, filter.bytes, at, Math.min(at + MERGE_STEP_BYTES, filter.bytes.length));
          await new Promise(setImmediate);
        }
      },
      check: async (ids) => verdicts(staged, ids),
      commit: async (built) => {
        assertStaged();
        this.live = { ...built, filter: staged, builtAt: new Date() };
        this.staged = undefined;
        this.added -= addedBefore;
        this.builtIds = built.ids;
        this.builds++;
      },
      abort: async () => {
        if (this.staged === staged) this.staged = undefined;
      },
    };
  }
}

function verdicts(filter: BlockedFilter | undefined, ids: readonly IdKey[]): BloomVerdict[] {
  if (!filter) return ids.map(() => 'unknown');
  const { layout, bytes } = filter;
  return ids.map((id) =>
    layout.locate(id) && layout.contains(bytes, layout.block * BLOCK_BYTES, layout.seed) ? 'maybe' : 'absent',
  );
}

function or(target: Uint8Array, source: Uint8Array, from: number, to: number): void {
  for (let i = from; i < to; i++) target[i]! |= source[i]!;
}
