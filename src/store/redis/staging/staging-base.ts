import type { BloomEventListener } from '../../../common/index.js';
import type { IdKey } from '../../../filter/index.js';
import type { BloomVerdict, LocalFilter, StagePlan, Staging } from '../../index.js';
import type { MetadataCache } from '../meta/metadata-cache.js';
import type { MetadataSnapshot } from '../meta/stored-meta.js';
import type { Outdated } from '../meta/unknown-reason.js';
import { assertOk, commitSwap } from '../swap/commit-swap.js';
import type { Refusal } from '../swap/rebuild-step.js';

/** What a staging is made with, under a lease. */
export interface StagingContext {
  readonly plan: StagePlan;
  /** Token of the lease. */
  readonly lease: string;
  /** Token of this staging; part of its keys. */
  readonly token: string;
  readonly lifeMs: number;
  /**
   * Asks the server whether it has memory for so many bytes, before anything is written.
   *
   * @throws {BloomRebuildError} when it has not.
   */
  readonly claim: (bytes: number) => Promise<void>;
  /** Aborts when the lease is lost. */
  readonly signal: AbortSignal;
}

/** What a staging needs of the filter around it. */
export interface RebuiltFilter<Stored, Snapshot extends MetadataSnapshot<Stored>> {
  readonly name: string;
  readonly emit: BloomEventListener;
  readonly metadata: MetadataCache<Stored, Snapshot>;
}

/** The generation that a rebuild makes beside the live one, on keys that its lease keeps alive. */
export abstract class StagingBase<Stored, Snapshot extends MetadataSnapshot<Stored>> implements Staging {
  /** Other processes add too, and nobody notes when. */
  readonly quietMs = 0;
  abstract readonly capacity: number;
  abstract readonly bytes: number;
  abstract readonly local: LocalFilter;
  /** The server that the staging is on; '' when it may not be asked. */
  protected runId = '';

  constructor(
    protected readonly filter: RebuiltFilter<Stored, Snapshot>,
    protected readonly context: StagingContext,
  ) {}

  /** Keys with a life, which is prolonged until the swap. */
  abstract ownKeys(): string[];

  divide?(memoryBytes: number): number;

  beginPass?(pass: number): void;

  /** Adds to the staged generation what was read into `local`. */
  abstract merge(signal: AbortSignal): Promise<void>;

  /** The generation as it is published; known when `writeEmpty` has ended. */
  protected abstract readonly generation: Stored;

  /** Claims memory, then writes the empty generation. */
  protected abstract writeEmpty(snapshot: Snapshot): Promise<void>;

  protected abstract read(ids: readonly IdKey[]): Promise<BloomVerdict[] | Outdated>;

  /** Makes the staged generation live in the place of another one. */
  protected abstract swap(live: Snapshot['live'], ids: number, snapshot: Snapshot): Promise<Refusal | 'OK'>;

  /** What the swap leaves to remove. */
  protected abstract retiredKeys(live: Snapshot['live']): readonly string[];

  /** Keys without which the staging goes on, and that an abort removes as well. */
  protected scratchKeys(): readonly string[] {
    return [];
  }

  /** Writes the empty generation, then makes it known to every process that adds. */
  async open(): Promise<void> {
    const { metadata } = this.filter;
    const snapshot = metadata.asStored(await metadata.reload());
    this.runId = snapshot.runId;
    await this.writeEmpty(snapshot);
    await this.publish(snapshot);
  }

  async check(ids: readonly IdKey[]): Promise<BloomVerdict[]> {
    const reply = await this.read(ids);
    return typeof reply === 'string' ? ids.map(() => 'unknown') : reply;
  }

  async commit(ids: number): Promise<void> {
    const { metadata } = this.filter;
    const origin = metadata.originOf(this.generation);
    const swapped = await commitSwap<Snapshot>({
      ...this.filter,
      swap: (found) => {
        const snapshot = metadata.asStored(found);
        return this.swap(snapshot.live, ids, snapshot);
      },
      isLive: (snapshot) =>
        snapshot.live !== undefined && metadata.originOf(snapshot.live.generation) === origin,
    });
    metadata.reports.lastState = 'ready';
    await metadata.remove(this.retiredKeys(metadata.asStored(swapped).live));
  }

  async abort(): Promise<void> {
    const { metadata } = this.filter;
    try {
      await this.withdraw();
    } finally {
      metadata.forget();
      await metadata.removeStaging([...this.ownKeys(), ...this.scratchKeys()]);
    }
  }

  /** @param _snapshot the metadata that were read before the staging was written */
  protected async publish(_snapshot: Snapshot): Promise<void> {
    assertOk(await this.sendPublish());
  }

  protected sendPublish(): Promise<Refusal | 'OK'> {
    const { lease, token } = this.context;
    return this.filter.metadata.publish({ lease, token, runId: this.runId, generation: this.generation });
  }

  /** From then on no add is written to it. */
  protected async withdraw(): Promise<void> {
    await this.filter.metadata.withdraw(this.context.token);
  }
}

/** A staging of any kind. */
export type AnyStaging = Staging & Pick<StagingBase<never, MetadataSnapshot<never>>, 'ownKeys' | 'open'>;
