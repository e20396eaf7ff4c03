import type { Clock } from '../../common/index.js';
import type { RebuildRequest } from '../../rebuild/index.js';
import type { StoredFilter } from '../../store/index.js';

export interface MissingMarkContext {
  readonly filter: {
    readonly definition: { readonly copyLeaseMs: number | undefined };
    rebuild(request: RebuildRequest): Promise<unknown>;
  };
  readonly inStore: Pick<StoredFilter, 'describe'>;
  readonly clock: Clock;
}

/** Rebuilds that are asked for have pauses that double from the first to the last. */
const FIRST_PAUSE_MS = 10_000;
const LAST_PAUSE_MS = 3_600_000;
/** So long a filter has to be ready without a mark. */
const MISSING_MS = 1000;

/** Asks for a rebuild, which sets a mark, where a filter stays ready without one. */
export class MissingMark {
  /** Since when the filter is ready without a mark. */
  private since: number | undefined;
  private nextAt = -Infinity;
  private pauseMs = FIRST_PAUSE_MS;
  private building = 0;

  constructor(private readonly context: MissingMarkContext) {}

  /** To be called when a mark is there. */
  found(): void {
    this.since = undefined;
  }

  /** To be called when the process that follows has moved it. */
  hasMoved(): void {
    this.pauseMs = FIRST_PAUSE_MS;
  }

  /** A rebuild of this process sets a mark at its end: none is asked for meanwhile. */
  async whileBuilding<Result>(build: () => Promise<Result>): Promise<Result> {
    this.building++;
    try {
      return await build();
    } finally {
      this.building--;
    }
  }

  /** Never rejects. */
  async askForRebuild(): Promise<void> {
    const { clock, filter, inStore } = this.context;
    try {
      const { state } = await inStore.describe();
      // One that is not ready is rebuilt anyway.
      if (state !== 'ready' || this.building > 0) return this.found();
      this.since ??= clock.now();
      // A rebuild elsewhere sets the mark when the filter is live and all leased copies know that.
      const missingMs = MISSING_MS + 2 * (filter.definition.copyLeaseMs ?? 0);
      if (clock.now() < Math.max(this.since + missingMs, this.nextAt)) return;
      this.nextAt = clock.now() + this.pauseMs;
      this.pauseMs = Math.min(2 * this.pauseMs, LAST_PAUSE_MS);
      await filter.rebuild({ occasion: { kind: 'recovery' } });
    } catch {
      // An event has reported it.
    }
  }
}
