import type { IdKey } from '../../../filter/index.js';
import type { BloomVerdict, LocalFilter, Staging } from '../../index.js';
import { withDeadline } from '../client/deadline.js';
import type { AnyStaging } from './staging-base.js';
import { explainNoMemory, type StagingMemory } from './staging-memory.js';

/**
 * A staging that leaves nothing behind when it cannot be opened, and whose memory is watched until it ends.
 */
export class StagingWithCleanUp implements Staging {
  constructor(
    private readonly staging: AnyStaging,
    private readonly memory: StagingMemory,
    private readonly writeTimeoutMs: number,
    /** Reports that staged keys could not be removed. */
    private readonly onCleanUpFailed: (error: unknown) => void,
  ) {}

  get capacity(): number {
    return this.staging.capacity;
  }

  get bytes(): number {
    return this.staging.bytes;
  }

  get local(): LocalFilter {
    return this.staging.local;
  }

  get quietMs(): number {
    return this.staging.quietMs;
  }

  get isOutgrown(): boolean {
    return this.staging.isOutgrown ?? false;
  }

  ownKeys(): string[] {
    return this.staging.ownKeys();
  }

  async open(): Promise<void> {
    try {
      await explainNoMemory(this.staging.open());
    } catch (error) {
      // What was written already takes the memory of others.
      await this.staging.abort().catch((failure: unknown) => this.onCleanUpFailed(failure));
      throw error;
    }
    this.memory.watch(() => this.ownKeys());
  }

  divide(memoryBytes: number): number {
    return this.staging.divide?.(memoryBytes) ?? 1;
  }

  beginPass(pass: number): void {
    this.staging.beginPass?.(pass);
  }

  merge(signal: AbortSignal): Promise<void> {
    return explainNoMemory(this.staging.merge(signal));
  }

  check(ids: readonly IdKey[]): Promise<BloomVerdict[]> {
    // What stores read has no deadline of its own, and a run without an end would keep its lease.
    return withDeadline(explainNoMemory(this.staging.check(ids)), this.writeTimeoutMs, 'check staging');
  }

  async commit(ids: number): Promise<void> {
    // The swap renames the staged keys.
    this.memory.stop();
    await explainNoMemory(this.staging.commit(ids));
  }

  async abort(): Promise<void> {
    this.memory.stop();
    await this.staging.abort();
  }
}
