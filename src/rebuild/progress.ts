import type { BloomRebuildProgress } from '../common/index.js';
import type { RebuildJob, RebuildRequest } from './rebuild-job.js';

const REPORT_EVERY_MS = 250;

/** Reports how far a run has come: each phase at once, ids at most four times a second. */
export class ProgressReporter {
  private phase: BloomRebuildProgress['phase'] = 'staging';
  private idsRead = 0;
  private scanStartedAt = 0;
  private reportedAt = -Infinity;
  private passes = 1;

  constructor(
    private readonly job: RebuildJob,
    private readonly onProgress: RebuildRequest['onProgress'],
    /** Ids that the source is expected to return; 0 when that is not known. */
    private readonly expectedIds: number,
  ) {}

  /** @param passes how often the source is read; ids of all of them count. */
  stage(passes: number): void {
    this.passes = passes;
    this.idsRead = 0;
  }

  enter(phase: BloomRebuildProgress['phase']): void {
    this.phase = phase;
    if (phase === 'scanning' && this.idsRead === 0) this.scanStartedAt = this.job.clock.now();
    this.report();
  }

  read(idsRead: number): void {
    this.idsRead = idsRead;
    if (this.job.clock.now() - this.reportedAt >= REPORT_EVERY_MS) this.report();
  }

  private report(): void {
    const now = this.job.clock.now();
    this.reportedAt = now;
    const seconds = (now - this.scanStartedAt) / 1000;
    const idsPerSecond = this.idsRead > 0 && seconds > 0 ? Math.round(this.idsRead / seconds) : 0;
    const expectedIds = this.expectedIds * this.passes;
    const known = expectedIds > 0;
    const left = Math.max(0, expectedIds - this.idsRead);
    const progress: BloomRebuildProgress = {
      phase: this.phase,
      idsRead: this.idsRead,
      idsPerSecond,
      share: known ? Math.min(1, this.idsRead / expectedIds) : undefined,
      remainingMs: known && idsPerSecond > 0 ? Math.round((left / idsPerSecond) * 1000) : undefined,
    };
    this.job.emit({ type: 'rebuild-progress', filter: this.job.name, progress });
    this.onProgress?.(progress);
  }
}
