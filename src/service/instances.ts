import type { BloomRebuildProgress } from '../common/index.js';
import type { BloomGuardMode } from './guard-counts.js';
import type { BloomFilterMetrics } from './metrics.js';

/** A process that has the filter and has reported within the last seconds. */
export interface BloomInstance {
  /** Differs for each start of a process. */
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly startedAt: Date;
  /** By the clock of the store. */
  readonly seenAt: Date;
  readonly metrics: BloomFilterMetrics;
}

/** How a rebuild of any process ended that had begun: one that was skipped, since another process rebuilds or none is due, is no record. */
export interface BloomRebuildRecord {
  readonly outcome: 'published' | 'failed' | 'stopped';
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly host: string;
  readonly pid: number;
  readonly phases: readonly { readonly phase: BloomRebuildProgress['phase']; readonly durationMs: number }[];
  /** Of a run that was published. */
  readonly ids?: number;
  readonly distinctIds?: number;
  readonly bytes?: number;
  /** Why it failed, or who stopped it; without ids. */
  readonly reason?: string;
}

/** The mode that an operator has set for all processes. */
export interface BloomSharedMode {
  readonly mode: BloomGuardMode;
  /** Who set it. */
  readonly by: string;
  readonly at: Date;
}

/** What all processes know of a filter. */
export interface BloomInstances {
  /** Those that have reported within the last seconds, the longest-running first. */
  readonly instances: readonly BloomInstance[];
  /** The last 50 rebuilds, the latest first. */
  readonly rebuilds: readonly BloomRebuildRecord[];
  /** The rebuild that runs now, in whichever process. */
  readonly running:
    | {
        readonly host: string;
        readonly pid: number;
        readonly startedAt: Date;
        readonly progress: BloomRebuildProgress | undefined;
      }
    | undefined;
  /** Undefined while nobody has set one: each process then has its own. */
  readonly mode: BloomSharedMode | undefined;
}
