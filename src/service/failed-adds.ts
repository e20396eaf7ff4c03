import type { BloomEventListener } from '../common/index.js';
import type { GuardState } from './guard-state.js';

/** Ids of calls that failed are reported when they fill this part of the capacity: a tenth. */
const PARTS = 10;

/** Ids that a call has added, and whose rows it has not made, as far as anybody can see. */
export interface FailedAddsReport {
  /** How many of them were new to the filter. */
  readonly ids: number;
  /** The method that failed. */
  readonly method: string;
}

export interface FailedAddsContext {
  readonly name: string;
  readonly generation: string | undefined;
  readonly guarding: GuardState;
  info(): Promise<{ readonly capacity: number }>;
}

/** Counts the ids that calls have added which then failed, and reports once for each generation that they fill a good part of it. */
export class FailedAdds {
  private generation: string | undefined;
  /** Of this generation. */
  private ids = 0;
  private isReported = false;

  /** @param capacity at least that of every generation. */
  constructor(
    private readonly filter: FailedAddsContext,
    private capacity: number,
    private readonly emit: BloomEventListener,
  ) {}

  note({ ids, method }: FailedAddsReport): void {
    this.filter.guarding.failedAdds += ids;
    const { generation } = this.filter;
    // Undefined while it is not known, which says nothing.
    if (generation !== undefined && generation !== this.generation) {
      if (this.generation !== undefined) {
        this.ids = 0;
        this.isReported = false;
      }
      this.generation = generation;
    }
    this.ids += ids;
    if (this.isReported || this.ids * PARTS < this.capacity) return;
    this.isReported = true;
    void this.report(method);
  }

  /** A rebuild may have planned for more than was configured. */
  private async report(method: string): Promise<void> {
    const { name } = this.filter;
    try {
      const { capacity } = await this.filter.info();
      this.capacity = Math.max(this.capacity, capacity);
      if (this.ids * PARTS >= this.capacity)
        this.emit({ type: 'failed-adds', filter: name, ids: this.ids, capacity: this.capacity, method });
      else this.isReported = false;
    } catch (error) {
      this.isReported = false;
      this.emit({ type: 'store-error', filter: name, operation: 'look after the filter', error });
    }
  }
}
