import type { BloomEvent } from '../common/index.js';
import type { BloomFilterInfo, BloomFilterMetrics, BloomHistogram } from '../service/index.js';

/** How the rebuilds of this process ended. */
export type RebuildOutcome = 'published' | 'skipped' | 'failed' | 'stopped';

export interface RebuildCounts {
  readonly outcomes: Readonly<Record<RebuildOutcome, number>>;
  /** Of those that were published, in seconds. */
  readonly durations: BloomHistogram;
}

/** What the store knew of a filter when it was asked last. */
export interface KnownInfo {
  readonly info: BloomFilterInfo;
  readonly readAt: Date;
}

/** All that is exported of one filter, of one moment. */
export interface FilterSnapshot {
  readonly metrics: BloomFilterMetrics;
  readonly rebuilds: RebuildCounts;
  readonly isAttacked: boolean;
  /** Undefined until the store has answered once. */
  readonly known: KnownInfo | undefined;
}

export interface EventCount {
  /** Undefined for events of no filter of this application. */
  readonly filter: string | undefined;
  readonly type: BloomEvent['type'];
  readonly count: number;
}

/** All that is exported, of one moment. */
export interface MetricsSnapshot {
  readonly filters: readonly FilterSnapshot[];
  readonly events: readonly EventCount[];
}
