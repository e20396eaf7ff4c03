import {
  BloomConfigError,
  type BloomEventListener,
  BloomUnavailableError,
  type Clock,
} from '../common/index.js';
import {
  type BloomId,
  type IdKey,
  idKeyText,
  modelledErrorRate,
  toIdKey,
  BLOCK_BYTES,
} from '../filter/index.js';
import {
  type BloomIdSource,
  type BloomRebuildReport,
  type RebuildRequest,
  runRebuild,
} from '../rebuild/index.js';
import type { BloomFilterStore, BloomStore, BloomVerdict } from '../store/index.js';
import type { BloomFilterInfo, GuardableFilter } from './bloom-filter.js';
import type { FilterDefinition } from './filter-options.js';
import { Guarding } from './guarding.js';

const CREATION_PAUSE_MS = 50;
const CREATION_ATTEMPTS = 200;

/** A promise for each verdict, shared: a look-up of an id that this process knows makes none. */
const RESOLVED: Readonly<Record<BloomVerdict, Promise<BloomVerdict>>> = {
  absent: Promise.resolve('absent'),
  maybe: Promise.resolve('maybe'),
  unknown: Promise.resolve('unknown'),
};

const NO_IDS: BloomIdSource = { async *ids() {} };

export interface FilterSurroundings {
  readonly store: BloomStore;
  readonly emit: BloomEventListener;
  readonly clock: Clock;
}

/** A filter of the application: ids made hashable, a place in the store, rebuilds that end with the application. */
export class ManagedFilter implements GuardableFilter {
  readonly name: string;
  readonly guarding: Guarding;

  private readonly inStore: BloomFilterStore;
  private readonly closing = new AbortController();
  private readonly runs = new Set<Promise<unknown>>();
  private created: Promise<void> | undefined;

  constructor(
    readonly definition: FilterDefinition,
    private readonly surroundings: FilterSurroundings,
  ) {
    this.name = definition.name;
    const { negativeCache = surroundings.store.kind === 'memory' } = definition;
    this.guarding = new Guarding({
      ...definition,
      negativeCache: negativeCache === true ? {} : negativeCache,
    });
    this.inStore = surroundings.store.open({
      ...surroundings,
      name: definition.name,
      replica: definition.replica,
    });
  }

  check(id: BloomId): Promise<BloomVerdict> {
    const verdict = this.verdictOf(id);
    return typeof verdict === 'string' ? RESOLVED[verdict] : verdict;
  }

  /** What `check` gives, without a promise where this process knows it. */
  verdictOf(id: BloomId): BloomVerdict | Promise<BloomVerdict> {
    const key = this.lookUpKey(id);
    return key === undefined ? 'unknown' : this.inStore.checkOne(key);
  }

  async checkMany(ids: readonly BloomId[]): Promise<BloomVerdict[]> {
    const keys = ids.map((id) => this.lookUpKey(id));
    const verdicts = await this.inStore.check(keys.filter((key) => key !== undefined));
    let next = 0;
    return keys.map((key) => (key === undefined ? 'unknown' : verdicts[next++]!));
  }

  async mightContain(id: BloomId): Promise<boolean> {
    return (await this.check(id)) !== 'absent';
  }

  async mightContainMany(ids: readonly BloomId[]): Promise<boolean[]> {
    return (await this.checkMany(ids)).map((verdict) => verdict !== 'absent');
  }

  async add(id: BloomId): Promise<boolean> {
    return (await this.addMany([id]))[0]!;
  }

  async addMany(ids: readonly BloomId[]): Promise<boolean[]> {
    const keys = ids.map((id) => this.toKey(id));
    if (keys.length === 0) return [];
    const { negativeCache } = this.guarding;
    const texts = negativeCache ? keys.map(idKeyText) : [];
    negativeCache?.noteAdded(texts);
    // Without a source nobody else would ever tell the filter of an id that was added before it existed.
    if (!this.definition.source) await this.create();
    const added = await this.inStore.add(keys);
    negativeCache?.noteAdded(texts);
    return added;
  }

  async rebuild(request: RebuildRequest = {}): Promise<BloomRebuildReport> {
    const { source } = this.definition;
    if (!source) {
      throw new BloomConfigError(
        `Filter '${this.name}' has no source to rebuild it from. Register it with a source, or empty it with reset().`,
      );
    }
    return this.run(source, this.definition.drainMs, request);
  }

  async reset(): Promise<void> {
    if (this.definition.source) {
      throw new BloomConfigError(
        `Filter '${this.name}' has a source: emptied, it would answer "absent" for ids that exist. Call rebuild() instead.`,
      );
    }
    const report = await this.run(NO_IDS, 0, { force: true });
    if (report.outcome === 'skipped') {
      throw new BloomUnavailableError(
        `Filter '${this.name}' was not emptied: ${report.reason} Call reset() again.`,
      );
    }
  }

  async info(): Promise<BloomFilterInfo> {
    const found = await this.inStore.describe();
    const { generation, count, builtAt, builds, rebuilding, state } = found;
    return {
      name: this.name,
      state,
      store: this.surroundings.store.kind,
      layout: 'blocked',
      count,
      capacity: found.capacity,
      errorRate: this.definition.errorRate,
      modelledErrorRate:
        generation &&
        modelledErrorRate({ hashCount: generation.hashCount, idsPerBlock: count / generation.blocks }),
      hashCount: generation?.hashCount,
      bytes: (generation?.blocks ?? 0) * BLOCK_BYTES,
      builtAt,
      builds,
      rebuilding,
      observed: this.guarding.counts(),
    };
  }

  keyText(id: unknown): string {
    return idKeyText(this.toKey(id));
  }

  async reportWrongAbsent(id: BloomId): Promise<void> {
    const { emit } = this.surroundings;
    try {
      if ((await this.check(id)) !== 'absent') return;
      this.guarding.wrongAbsents++;
      emit({ type: 'wrong-absent', filter: this.name, id });
      await this.inStore.distrust('An id that exists was answered "absent".');
      await this.add(id);
    } catch (error) {
      emit({ type: 'store-error', filter: this.name, operation: 'report a wrong absent', error });
    }
  }

  /** What in the set-up of the store endangers the filter, each with what to do about it. */
  advise(plan: { bytes: number; hasSource: boolean }): Promise<readonly string[]> {
    return this.inStore.advise(plan);
  }

  /** Makes a filter without a source, empty, unless it was made before. */
  create(): Promise<void> {
    this.created ??= this.createEmpty().catch((error: unknown) => {
      this.created = undefined;
      throw error;
    });
    return this.created;
  }

  /** Stops what runs, waits for it, and starts no other run. */
  async stopRebuilds(): Promise<void> {
    this.closing.abort(new Error('The application is shutting down.'));
    await Promise.allSettled(this.runs);
  }

  async close(): Promise<void> {
    await this.stopRebuilds();
    await this.inStore.close();
  }

  private async createEmpty(): Promise<void> {
    const { clock } = this.surroundings;
    for (let attempt = 0; attempt < CREATION_ATTEMPTS; attempt++) {
      if ((await this.inStore.describe()).state !== 'unbuilt') return;
      const report = await this.run(NO_IDS, 0, {
        force: true,
        unless: ({ state }) => (state === 'unbuilt' ? undefined : 'The filter has been made meanwhile.'),
      });
      if (report.outcome === 'published') return;
      await clock.sleep(CREATION_PAUSE_MS, this.closing.signal);
    }
    throw new BloomUnavailableError(
      `Filter '${this.name}' could not be made: another process holds its lease.`,
    );
  }

  private async run(
    source: BloomIdSource,
    drainMs: number,
    request: RebuildRequest,
  ): Promise<BloomRebuildReport> {
    const { signal } = this.closing;
    const run = runRebuild(
      {
        ...this.definition,
        ...this.surroundings,
        store: this.inStore,
        source,
        drainMs,
        toKey: (id) => this.toKey(id),
      },
      { ...request, signal: request.signal ? AbortSignal.any([signal, request.signal]) : signal },
    );
    this.runs.add(run);
    return run.finally(() => this.runs.delete(run));
  }

  private lookUpKey(id: unknown): IdKey | undefined {
    try {
      return this.toKey(id);
    } catch (error) {
      this.surroundings.emit({ type: 'invalid-id', filter: this.name, error });
      return undefined;
    }
  }

  private toKey(id: unknown): IdKey {
    const { normalize } = this.definition;
    const key = toIdKey(normalize ? normalize(id as BloomId) : id);
    // Bytes are hashed later, when their owner may have written other ones into them.
    return typeof key === 'string' ? key : new Uint8Array(key);
  }
}
