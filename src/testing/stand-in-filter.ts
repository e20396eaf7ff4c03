import type { BloomEventListener } from '../common/index.js';
import { type BloomId, idNote, type IdKey } from '../filter/index.js';
import {
  type BloomBatchOptions,
  BloomFilter,
  type BloomFilterInfo,
  type BloomFilterMetrics,
  type FailedAddsReport,
  type GuardableFilter,
  guardedBatch,
  GuardState,
  IdKeys,
  LookupCounts,
  metricsOf,
  NO_AUDIT,
} from '../service/index.js';
import type { BloomVerdict, LookupOutcome } from '../store/index.js';

/** What a test may put in the place of a filter: an object with some of its methods, or a mock. */
type Original = Partial<Record<keyof BloomFilter | 'has', unknown>>;

type Method = (...args: unknown[]) => unknown;

const VERDICTS: readonly unknown[] = ['absent', 'maybe', 'unknown'];
/** Ids whose spelling is remembered between the forming of a key and its use. */
const MAX_SPELLINGS = 10_000;

/**
 * Keys, and the ids that they were formed of: what stands in for a filter gets ids as its callers wrote them.
 */
class RememberedKeys extends IdKeys {
  private readonly ids = new Map<string, BloomId>();

  override of(id: unknown): IdKey {
    const key = super.of(id);
    if (this.ids.size >= MAX_SPELLINGS) this.ids.clear();
    this.ids.set(idNote(key), id as BloomId);
    return key;
  }

  idOf(key: IdKey): BloomId {
    return this.ids.get(idNote(key)) ?? key;
  }
}

/**
 * What guards ask when something else was provided under the token of a filter, such as by `overrideProvider`
 * in a test: its `check`, or else `mightContain`, or else `has`. What gives no answer lets everything pass.
 */
export class StandInFilter extends BloomFilter implements GuardableFilter {
  readonly guarding = new GuardState({
    shadow: false,
    audit: NO_AUDIT,
    negativeCache: false,
    drainMs: 10_000,
  });
  readonly keys = new RememberedKeys({ name: 'stand-in', normalize: undefined, maxIdBytes: Infinity });
  readonly generation = 'stand-in';
  readonly drainMs = 10_000;
  readonly sharedCache = undefined;
  readonly lookups = new LookupCounts();
  readonly advice = new Set<string>();

  constructor(
    readonly name: string,
    readonly original: Original,
    private readonly emit: BloomEventListener,
  ) {
    super();
  }

  async checkKey(key: IdKey): Promise<LookupOutcome> {
    const verdict = await this.ask(this.keys.idOf(key));
    return verdict === 'unknown' ? 'error' : verdict;
  }

  isBeyond(): boolean {
    return false;
  }

  async addKeys(keys: readonly IdKey[]): Promise<boolean[]> {
    const ids = keys.map((key) => this.keys.idOf(key));
    const many = this.method('addMany');
    const one = this.method('add');
    if (many && (ids.length > 1 || !one)) {
      const added = await many(ids);
      return ids.map((_, i) => !Array.isArray(added) || added[i] !== false);
    }
    const added = one ? await Promise.all(ids.map((id) => one(id))) : ids;
    return added.map((isNew) => isNew !== false);
  }

  async reportFalseNegative(): Promise<void> {
    this.guarding.wrongAbsents++;
  }

  reportFailedAdds({ ids }: FailedAddsReport): void {
    this.guarding.failedAdds += ids;
  }

  guardBatch<Id extends BloomId, Row>(
    load: (ids: Id[]) => Promise<readonly Row[]>,
    options?: BloomBatchOptions<Row>,
  ): (ids: readonly Id[]) => Promise<(Row | null)[]> {
    return guardedBatch({ filter: this, emit: this.emit }, load, options);
  }

  check(id: BloomId): Promise<BloomVerdict> {
    return this.ask(id);
  }

  checkMany(ids: readonly BloomId[]): Promise<BloomVerdict[]> {
    return Promise.all(ids.map((id) => this.ask(id)));
  }

  async mightContain(id: BloomId): Promise<boolean> {
    return (await this.ask(id)) !== 'absent';
  }

  mightContainMany(ids: readonly BloomId[]): Promise<boolean[]> {
    return Promise.all(ids.map((id) => this.mightContain(id)));
  }

  async add(id: BloomId): Promise<boolean> {
    return (await this.addMany([id]))[0]!;
  }

  addMany(ids: readonly BloomId[]): Promise<boolean[]> {
    return this.addKeys(ids.map((id) => this.keys.of(id)));
  }

  async remove(id: BloomId): Promise<boolean> {
    return (await this.method('remove')?.(id)) === true;
  }

  async rebuild() {
    await this.method('rebuild')?.();
    return { outcome: 'skipped' as const, reason: 'Something stands in for this filter.' };
  }

  async reset(): Promise<void> {
    await this.method('reset')?.();
  }

  async adopt(): Promise<void> {
    await this.method('adopt')?.();
  }

  metrics(): BloomFilterMetrics {
    return metricsOf(this, { status: { state: 'ready', isCircuitOpen: false } });
  }

  async info(): Promise<BloomFilterInfo> {
    return {
      name: this.name,
      state: 'ready',
      store: 'stand-in',
      layout: 'stand-in',
      count: 0,
      capacity: 0,
      errorRate: 0,
      modelledErrorRate: undefined,
      fillRatio: undefined,
      hashCount: undefined,
      bytes: 0,
      builtAt: undefined,
      builds: 0,
      rebuilding: false,
      copyLease: undefined,
      copyWaits: this.lookups.copyWaits,
      observed: this.guarding.counts(),
    };
  }

  private async ask(id: BloomId): Promise<BloomVerdict> {
    try {
      const verdict: unknown = await this.method('check')?.(id);
      if (VERDICTS.includes(verdict)) return this.noted(verdict as BloomVerdict);
      const mightContain = (await this.method('mightContain')?.(id)) ?? (await this.method('has')?.(id));
      if (typeof mightContain === 'boolean') return this.noted(mightContain ? 'maybe' : 'absent');
    } catch (error) {
      this.emit({ type: 'store-error', filter: this.name, operation: 'check', error });
    }
    return this.noted('unknown');
  }

  private noted(verdict: BloomVerdict): BloomVerdict {
    if (verdict === 'unknown') this.lookups.recordUnknown('error', 1);
    else this.lookups.local++;
    return verdict;
  }

  private method(name: keyof Original): Method | undefined {
    const method = this.original[name];
    return typeof method === 'function'
      ? (...args) => method.apply(this.original, args) as unknown
      : undefined;
  }
}
