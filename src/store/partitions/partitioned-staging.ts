import { BloomRebuildError, type BloomRebuildFailure, describeError } from '../../common/index.js';
import { type IdKey, partOf } from '../../filter/index.js';
import {
  type BloomVerdict,
  type LocalFilter,
  PartlyRebuiltError,
  type StagePlan,
  type Staging,
} from '../index.js';
import { IdsByPartition, type PartOfPass } from './ids-by-partition.js';
import { MISSING_IN_PART, partsFailed, STAGED_AGAIN } from './partitions.messages.js';
import type { RebuiltPart, StagedPart } from './rebuilt-part.js';

export interface PartitionedStagingOptions {
  readonly plan: StagePlan;
  /** Parts of the filter, of which `parts` are rebuilt. */
  readonly of: number;
  readonly parts: readonly StagedPart[];
  /** Called with the ids that were read for a part, when the filter is staged again. */
  readonly onRead: (part: number, ids: number) => void;
}

/** The staged parts of a filter, which one scan of the source fills. */
export class PartitionedStaging implements Staging {
  readonly capacity: number;
  readonly bytes: number;
  private byPartition: IdsByPartition | undefined;
  /** Different ids of each part. */
  private readonly counts: number[];
  private readonly passes = new Map<StagedPart, number>();
  private pass = 0;

  constructor(private readonly options: PartitionedStagingOptions) {
    this.capacity = options.plan.capacity;
    this.counts = Array.from({ length: options.of }, () => 0);
    this.bytes = options.parts.reduce((sum, { staging }) => sum + staging.bytes, 0);
  }

  get quietMs(): number {
    return Math.min(...this.active().map(({ staging }) => staging.quietMs));
  }

  get local(): LocalFilter {
    return (this.byPartition ??= new IdsByPartition(this.partsOfPass(), this.counts));
  }

  /** The parts share the memory. */
  divide(memoryBytes: number): number {
    const parts = this.active();
    for (const staged of parts) {
      this.passes.set(staged, staged.staging.divide?.(memoryBytes / parts.length) ?? 1);
    }
    return Math.max(1, ...this.passes.values());
  }

  beginPass(pass: number): void {
    this.pass = pass;
    this.byPartition = undefined;
    for (const staged of this.active()) {
      if (pass < this.passesOf(staged)) staged.staging.beginPass?.(pass);
    }
  }

  private partsOfPass(): PartOfPass[] {
    const { pass } = this;
    const parts = Array.from({ length: this.options.of }, (): PartOfPass =>
      pass > 0 ? 'elsewhere' : 'not rebuilt',
    );
    for (const staged of this.active())
      parts[staged.part.part] = pass < this.passesOf(staged) ? staged.staging.local : 'elsewhere';
    return parts;
  }

  private passesOf(staged: StagedPart): number {
    return this.passes.get(staged) ?? 1;
  }

  get isOutgrown(): boolean {
    const outgrown = this.active().filter(({ part }) => this.idsOf(part) > part.plannedIds);
    for (const { part } of outgrown) this.options.onRead(part.part, this.idsOf(part));
    return outgrown.length > 0;
  }

  async merge(signal: AbortSignal): Promise<void> {
    const filled = this.active().filter((staged) => this.pass < this.passesOf(staged));
    for (const { part, staging } of filled) {
      await part.attempt(() => staging.merge(AbortSignal.any([signal, part.lease.signal])));
      signal.throwIfAborted();
    }
    this.assertAny();
  }

  /** Ids of parts that are not rebuilt have no verdict of their own. */
  async check(ids: readonly IdKey[]): Promise<BloomVerdict[]> {
    const verdicts = ids.map((): BloomVerdict => 'maybe');
    await Promise.all(
      this.active().map(({ part, staging }) =>
        part.attempt(async () => {
          const places = [...ids.keys()].filter((place) => this.partOf(ids[place]!) === part.part);
          if (places.length === 0) return;
          const found = await staging.check(places.map((place) => ids[place]!));
          for (const [i, place] of places.entries()) verdicts[place] = found[i]!;
        }),
      ),
    );
    this.assertAny();
    return verdicts;
  }

  giveUpPartsOf(ids: readonly IdKey[]): boolean {
    const parts = new Set(ids.map((id) => this.partOf(id)));
    for (const { part } of this.active()) {
      if (parts.has(part.part)) part.giveUp(new BloomRebuildError('staging-damaged', MISSING_IN_PART));
    }
    return this.active().length > 0;
  }

  /**
   * One part after the other: each alone keeps the promise, so there is no moment at which all have to
   * change.
   */
  async commit(_ids: number): Promise<void> {
    if (
      this.options.parts.some(({ part, staging }) => part.staging !== undefined && part.staging !== staging)
    ) {
      throw new BloomRebuildError('staging-damaged', STAGED_AGAIN);
    }
    for (const { part, staging } of this.active()) {
      await part.attempt(async () => {
        await staging.commit(this.idsOf(part));
        part.committed();
      });
    }
    this.assertAll();
  }

  async abort(): Promise<void> {
    const results = await Promise.allSettled(this.active().map(({ part }) => part.abort()));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  }

  private active(): StagedPart[] {
    return this.options.parts.filter(({ part }) => !part.isGivenUp && !part.isCommitted);
  }

  private partOf(id: IdKey): number {
    return partOf(id, this.options.of);
  }

  private idsOf({ part }: RebuiltPart): number {
    return this.counts[part]!;
  }

  /** @throws what the first part was given up for, when no part is left. */
  private assertAny(): void {
    const { parts } = this.options;
    if (parts.every(({ part }) => part.isGivenUp)) throw parts[0]!.part.failure;
  }

  /** @throws {BloomRebuildError} when a part was given up. */
  private assertAll(): void {
    const parts = this.options.parts.map(({ part }) => part);
    const failed = parts.filter(({ isGivenUp }) => isGivenUp);
    if (failed.length === 0) return;
    const causes = failed.map(({ part, failure }) => ({ part, cause: describeError(failure) }));
    const { failure } = failed[0]!;
    const { retryAfterMs } = failure instanceof BloomRebuildError ? failure : {};
    const swapped = parts.length - failed.length;
    const Failure = swapped > 0 ? PartlyRebuiltError : BloomRebuildError;
    throw new Failure(reasonOf(failure), partsFailed(causes, swapped), { cause: failure, retryAfterMs });
  }
}

function reasonOf(error: unknown): BloomRebuildFailure {
  return error instanceof BloomRebuildError ? error.reason : 'store-failed';
}
