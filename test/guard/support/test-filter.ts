import { BloomConfigError, type BloomEvent } from '../../../src/common/index.js';
import {
  BlockedFilter,
  type BloomId,
  createGeneration,
  type IdKey,
  planFilter,
} from '../../../src/filter/index.js';
import {
  type BloomFilterInfo,
  type FailedAddsReport,
  type BloomFilterMetrics,
  type GuardableFilter,
  GuardState,
  IdKeys,
  LookupCounts,
  NO_AUDIT,
  metricsOf,
  type FalseNegativeReport,
} from '../../../src/service/index.js';
import type { BloomVerdict, LookupOutcome } from '../../../src/store/index.js';

/** A filter in memory that counts what it is asked, and fails when it is told to. */
export class TestFilter implements GuardableFilter {
  readonly guarding = new GuardState({ shadow: false, audit: NO_AUDIT, negativeCache: false, drainMs: 0 });
  readonly keys = new IdKeys({ name: 'products', normalize: undefined, maxIdBytes: 1024 });
  readonly sharedCache = undefined;

  isBeyond(): boolean {
    return false;
  }
  readonly lookups = new LookupCounts();
  readonly advice = new Set<string>();
  generation: string | undefined = 'first';
  drainMs = 10_000;
  readonly wrongAbsents: FalseNegativeReport[] = [];
  readonly checked: unknown[] = [];
  readonly failedAdds: FailedAddsReport[] = [];
  readonly addCalls: BloomId[][] = [];
  readonly events: BloomEvent[] = [];
  /** What every check answers, in place of the bits. */
  verdict: BloomVerdict | undefined;
  /** What every add rejects with. */
  addError: unknown;
  private readonly bits = new BlockedFilter(
    createGeneration(planFilter({ capacity: 20_000, errorRate: 1e-6 })),
  );

  constructor(
    readonly name: string,
    ids: readonly BloomId[] = [],
  ) {
    for (const id of ids) this.bits.add(id);
  }

  async check(id: BloomId): Promise<BloomVerdict> {
    this.checked.push(id);
    try {
      const there = this.bits.mightContain(id);
      return this.verdict ?? (there ? 'maybe' : 'absent');
    } catch (error) {
      this.events.push({ type: 'invalid-id', filter: this.name, error });
      return 'unknown';
    }
  }

  async checkKey(key: IdKey): Promise<LookupOutcome> {
    const verdict = await this.check(key);
    return verdict === 'unknown' ? 'error' : verdict;
  }

  checkMany(ids: readonly BloomId[]): Promise<BloomVerdict[]> {
    return Promise.all(ids.map((id) => this.check(id)));
  }

  async mightContain(id: BloomId): Promise<boolean> {
    return (await this.check(id)) !== 'absent';
  }

  async mightContainMany(ids: readonly BloomId[]): Promise<boolean[]> {
    return (await this.checkMany(ids)).map((verdict) => verdict !== 'absent');
  }

  guardBatch(): never {
    throw new BloomConfigError('A test filter guards no batches.');
  }

  async add(id: BloomId): Promise<boolean> {
    return (await this.addMany([id]))[0]!;
  }

  async addMany(ids: readonly BloomId[]): Promise<boolean[]> {
    return this.addKeys(ids.map((id) => this.keys.ofAdded(id)));
  }

  async addKeys(keys: readonly IdKey[]): Promise<boolean[]> {
    this.addCalls.push([...keys]);
    await new Promise(setImmediate);
    if (this.addError) throw this.addError;
    return keys.map((key) => this.bits.add(key));
  }

  async rebuild(): Promise<never> {
    throw new BloomConfigError('A test filter has no source.');
  }

  reset(): Promise<never> {
    return this.rebuild();
  }

  adopt(): Promise<never> {
    return this.rebuild();
  }

  remove(): Promise<never> {
    return this.rebuild();
  }

  async reportFalseNegative(report: FalseNegativeReport): Promise<void> {
    this.wrongAbsents.push(report);
  }

  reportFailedAdds(report: FailedAddsReport): void {
    this.failedAdds.push(report);
  }

  metrics(): BloomFilterMetrics {
    return metricsOf(this, { status: { state: 'ready', isCircuitOpen: false } });
  }

  info(): Promise<BloomFilterInfo> {
    return this.rebuild();
  }
}
