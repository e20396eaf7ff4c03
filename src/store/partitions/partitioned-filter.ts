import { performance } from 'node:perf_hooks';
import type { BloomEvent } from '../../common/index.js';
import { type FilterFill, type IdKey, partCapacity, partOf } from '../../filter/index.js';
import {
  type AdvisedFilter,
  type BloomVerdict,
  type DistrustPauses,
  type FilterDescription,
  type FilterStore,
  type InstanceBoard,
  type LeaseRequest,
  type LookupOutcome,
  NO_RECORDER,
  type OpenFilterOptions,
  OtherPartitionsError,
  type HighWaterMarks,
  type PartDescription,
  type RebuildLease,
  type SharedNegativeCache,
  type StoredFilter,
  type StoredFilterStatus,
} from '../index.js';
import { PartContents } from './part-contents.js';
import { isKnown, judged, mean, totalOf, worstState } from './part-totals.js';
import { leaseParts } from './partitioned-lease.js';

/** A filter that is stored in another number of parts is looked at again after this time. */
const RECHECK_MS = 1000;

export type PartitionedOptions = OpenFilterOptions & { readonly partitions: number };

/**
 * A filter whose ids are dealt over parts, each of which is a stored filter of its own: with its own
 * generations, lease and swaps, and on a cluster in a hash slot of its own. Each part alone keeps the promise
 * for its ids.
 */
export class PartitionedFilter implements StoredFilter {
  readonly parts: readonly StoredFilter[];
  /** In the slot of the first part; undefined where no other process has the filter. */
  readonly board: InstanceBoard | undefined;
  /** As the board. */
  readonly highWaterMarks: HighWaterMarks | undefined;
  readonly negativeCache: SharedNegativeCache | undefined;
  readonly measureFill: (() => Promise<FilterFill | undefined>) | undefined;

  /** Which part gives the advice of this text: it may hold for several. */
  private readonly advised = new Map<string, number>();
  /** Undefined where all processes have the same contents. */
  private contents: PartContents | undefined;
  /** Why no part is believed, and when that was found. */
  private refusal: { readonly error: unknown; at: number } | undefined;

  constructor(
    store: FilterStore,
    private readonly options: PartitionedOptions,
  ) {
    const { partitions } = options;
    this.parts = Array.from({ length: partitions }, (_, index) => store.open(this.optionsOf(index)));
    this.contents = this.contentsOf(options);
    const first = this.parts[0]!;
    this.board = first.board;
    this.highWaterMarks = first.highWaterMarks;
    const caches = ofAll(this.parts, ({ negativeCache }) => negativeCache);
    this.negativeCache = caches && {
      ask: (question) => caches[partOf(question.id, partitions)]!.ask(question),
    };
    if (this.parts.every(({ measureFill }) => measureFill)) {
      this.measureFill = async () => {
        const fills = await Promise.all(this.parts.map((part) => part.measureFill!().catch(() => undefined)));
        const found = fills.filter((fill) => fill !== undefined);
        if (found.length < fills.length) return undefined;
        return {
          errorRate: mean(found.map(({ errorRate }) => errorRate)),
          fillRatio: mean(found.map(({ fillRatio }) => fillRatio)),
        };
      };
    }
  }

  get generation(): string | undefined {
    const generations = this.parts.map(({ generation }) => generation);
    if (generations.every((generation) => generation === undefined)) return undefined;
    return generations.map((generation) => generation ?? '-').join(' ');
  }

  get status(): StoredFilterStatus {
    const all = this.parts.map(({ status }) => status);
    const isCircuitOpen = all.some((status) => status.isCircuitOpen);
    return { state: this.refusal ? undefined : worstState(all.map(({ state }) => state)), isCircuitOpen };
  }

  checkOne(id: IdKey): LookupOutcome | Promise<LookupOutcome> {
    if (this.refusal) return this.refuse(1);
    return this.parts[partOf(id, this.parts.length)]!.checkOne(id);
  }

  async check(ids: readonly IdKey[]): Promise<BloomVerdict[]> {
    if (this.refusal) {
      this.refuse(ids.length);
      return ids.map(() => 'unknown');
    }
    return this.dealt(ids, (part, some) => this.parts[part]!.check(some));
  }

  async add(ids: readonly IdKey[]): Promise<boolean[]> {
    if (this.refusal) {
      await this.lookAgain();
      // oxlint-disable-next-line typescript/no-unnecessary-condition
      if (this.refusal) throw this.refusal.error;
    }
    return this.dealt(ids, (part, some) => this.addTo(part, some));
  }

  async describe(): Promise<FilterDescription> {
    return totalOf(judged(await this.describeParts(), this.options.hasSource));
  }

  async distrust(reason: string, pauses?: DistrustPauses): Promise<boolean> {
    const done = await Promise.all(this.parts.map((part) => part.distrust(reason, pauses)));
    return done.includes(true);
  }

  async verify(): Promise<void> {
    await Promise.all(this.parts.map((part) => part.verify()));
  }

  async advise(filter: AdvisedFilter): Promise<readonly string[]> {
    const { parts } = this;
    const bytes = Math.ceil(filter.bytes / parts.length);
    const texts = await Promise.all(parts.map((part) => part.advise({ ...filter, bytes })));
    return [...new Set(texts.flat())];
  }

  lease(request: LeaseRequest): Promise<RebuildLease | undefined> {
    const { name, emit, hasSource } = this.options;
    const describe = async () => judged(await this.describeParts(), hasSource);
    const confirm = async () => this.contents?.confirm('build');
    return leaseParts({ name, emit, parts: this.parts, describe, confirm }, request);
  }

  async close(): Promise<void> {
    await Promise.all(this.parts.map((part) => part.close()));
  }

  /** @throws when no part can be asked, or one of them is stored in another number of parts. */
  private async describeParts(): Promise<readonly PartDescription[]> {
    const found = await Promise.all(
      this.parts.map((filter, part): Promise<PartDescription> => {
        return filter.describe().then(
          (description) => ({ ...description, part }),
          (error: unknown) => ({ part, error }),
        );
      }),
    );
    const errors = found.flatMap((part) => (isKnown(part) ? [] : [part.error]));
    const other = errors.find((error) => error instanceof OtherPartitionsError);
    if (other) this.refusal = { error: other, at: performance.now() };
    else if (errors.length === 0) this.refusal = undefined;
    if (other ?? errors.length === found.length) throw other ?? errors[0];
    return found;
  }

  private optionsOf(index: number): OpenFilterOptions {
    const { partitions: of, plan, negativeCache, onLoad, ...options } = this.options;
    const { contents } = options;
    const capacity = partCapacity(plan.capacity, of);
    return {
      ...options,
      partitions: undefined,
      part: { index, of, epoch: contents && (async () => this.contents?.epoch() ?? 'none') },
      plan: { ...plan, capacity },
      negativeCache: negativeCache && { ...negativeCache, maxIds: Math.ceil(negativeCache.maxIds / of) },
      onLoad: onLoad && ((load) => onLoad({ ...load, part: index })),
      emit: (event) => this.onEvent(index, event),
    };
  }

  /**
   * Passes the event of a part on. The filter of another number of parts may take adds of other processes:
   * no part of this one has them.
   */
  private onEvent(part: number, event: BloomEvent): void {
    if (event.type === 'other-partitions') this.refusal = { error: event.error, at: performance.now() };
    if (event.type === 'advice') {
      const by = this.advised.get(event.text) ?? part;
      this.advised.set(event.text, by);
      if (by !== part) return;
    }
    this.options.emit({ ...event, part });
  }

  private refuse(ids: number): LookupOutcome {
    (this.options.recorder ?? NO_RECORDER).recordUnknown('other-partitions', ids);
    void this.lookAgain();
    return 'other-partitions';
  }

  private async lookAgain(): Promise<void> {
    const { refusal } = this;
    const now = performance.now();
    if (!refusal || now - refusal.at < RECHECK_MS) return;
    refusal.at = now;
    await this.describeParts().catch(() => {});
  }

  private contentsOf({ name, contents, hasSource }: PartitionedOptions): PartContents | undefined {
    const parts = ofAll(this.parts, ({ epochs }) => epochs);
    return contents && parts && new PartContents({ filter: name, contents, hasSource, parts });
  }

  /**
   * An add that is not written anywhere counts on a rebuild that has not been published yet. A process with
   * another number of parts publishes the first part before all others: looked at after the add was called,
   * it shows whether such a rebuild is under way. Processes of another spelling would look for the id in
   * another part.
   */
  private async addTo(part: number, ids: readonly IdKey[]): Promise<boolean[]> {
    const filter = this.parts[part]!;
    const added = await filter.add(ids);
    const isNowhere = filter.generation === undefined;
    if (isNowhere) await this.parts[0]!.describe();
    if (isNowhere && this.options.hasSource) await this.contents?.confirm('add');
    return added;
  }

  /**
   * Has each part do the same with its ids, all of them at once; what they return is in the order of the ids.
   */
  private async dealt<Result>(
    ids: readonly IdKey[],
    work: (part: number, ids: readonly IdKey[]) => Promise<readonly Result[]>,
  ): Promise<Result[]> {
    const places = new Map<number, number[]>();
    for (const [place, id] of ids.entries()) {
      const part = partOf(id, this.parts.length);
      const ofPart = places.get(part);
      if (ofPart) ofPart.push(place);
      else places.set(part, [place]);
    }
    const results = Array.from<Result>({ length: ids.length });
    await Promise.all(
      Array.from(places, async ([part, ofPart]) => {
        const found = await work(
          part,
          ofPart.map((place) => ids[place]!),
        );
        for (const [i, place] of ofPart.entries()) results[place] = found[i]!;
      }),
    );
    return results;
  }
}

/** What all parts have; undefined where one lacks it. */
function ofAll<Ability>(
  parts: readonly StoredFilter[],
  abilityOf: (part: StoredFilter) => Ability | undefined,
): readonly Ability[] | undefined {
  const found = parts.flatMap((part) => abilityOf(part) ?? []);
  return found.length === parts.length ? found : undefined;
}
