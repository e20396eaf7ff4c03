import type { BloomEventListener } from '../../common/index.js';
import { partCapacity } from '../../filter/index.js';
import type { BuildOutcome, RebuildLease, StagePlan, Staging } from '../index.js';

/** One part of a filter while it is rebuilt. */
export class RebuiltPart {
  staging: Staging | undefined;
  isCommitted = false;
  isGivenUp = false;
  /** Why it was given up. */
  failure: unknown;
  onGivenUp: ((error: unknown) => void) | undefined;
  /** Ids that the staging has room for. */
  plannedIds = 0;

  constructor(
    readonly part: number,
    readonly lease: RebuildLease,
    private readonly filter: { readonly name: string; readonly emit: BloomEventListener },
  ) {}

  /** @param known what the part is known to hold, when its share of the plan is smaller than that */
  async stage(plan: StagePlan, known: { readonly of: number; readonly ids: number }): Promise<void> {
    const share = partCapacity(plan.capacity, known.of);
    // A source of chosen ids may put all of them into one part, but not more than there are.
    const wanted = known.ids > share ? Math.ceil(known.ids * 1.1) : share;
    this.plannedIds = Math.max(share, Math.min(wanted, plan.capacity));
    this.staging = undefined;
    await this.attempt(async () => {
      this.staging = await this.lease.stage({ ...plan, capacity: this.plannedIds });
    });
  }

  /** Does a step of the rebuild; one that fails gives the part up, and the others go on. */
  async attempt(step: () => Promise<void>): Promise<void> {
    if (this.isGivenUp) return;
    try {
      await step();
    } catch (error) {
      this.giveUp(error);
    }
  }

  giveUp(error: unknown): void {
    if (this.isGivenUp || this.isCommitted) return;
    this.isGivenUp = true;
    this.failure = error;
    const { name, emit } = this.filter;
    emit({ type: 'store-error', filter: name, part: this.part, operation: 'rebuild a part', error });
    void this.abort().catch((failure: unknown) =>
      emit({ type: 'clean-up-failed', filter: name, part: this.part, error: failure }),
    );
    this.onGivenUp?.(error);
  }

  /** Its new generation is live, whatever has become of the lease meanwhile. */
  committed(): void {
    this.isCommitted = true;
    this.isGivenUp = false;
    this.staging = undefined;
  }

  async abort(): Promise<void> {
    const { staging } = this;
    this.staging = undefined;
    if (!this.isCommitted) await staging?.abort();
  }

  async release(outcome: BuildOutcome | undefined): Promise<void> {
    if (this.isCommitted) return this.lease.release({ kind: 'published' });
    if (this.isGivenUp) return this.lease.release({ kind: 'failed' });
    await this.lease.release(outcome);
  }
}

/** A part, and its staging: of another attempt the part has another one. */
export interface StagedPart {
  readonly part: RebuiltPart;
  readonly staging: Staging;
}
