import { BloomRebuildError, type BloomRebuildProgress, describeError } from '../common/index.js';
import { type BloomRebuildReport, rebuildError, type RebuildRequest } from '../rebuild/index.js';
import { randomBytes } from 'node:crypto';
import type { BloomRebuildRecord } from './instances.js';
import { BAD_ID_LEFT_OUT, stoppedBy } from './service.messages.js';

type Joiner = Pick<RebuildRequest, 'signal' | 'onProgress'>;

/** A rebuild that is under way in this process, for callers who ask for one meanwhile. */
export class CurrentRun {
  private readonly listeners = new Set<(progress: BloomRebuildProgress) => void>();

  constructor(
    private readonly filter: string,
    /** Whether it publishes a generation however few ids it has. */
    readonly isForced: boolean,
    /** How many runs of this filter had begun before. */
    readonly number: number,
  ) {}

  readonly report = (progress: BloomRebuildProgress): void => {
    for (const listener of this.listeners) listener(progress);
  };

  /** The result of the run. The caller may stop waiting by its own signal; the run continues. */
  join(run: Promise<BloomRebuildReport>, { signal, onProgress }: Joiner): Promise<BloomRebuildReport> {
    return new Promise((resolve, reject) => {
      const end = () => {
        this.listeners.delete(listener);
        signal?.removeEventListener('abort', stop);
      };
      const fail = (error: unknown) => {
        end();
        reject(error);
      };
      const stop = () => fail(rebuildError(this.filter, signal!.reason, signal!));
      const listener = (progress: BloomRebuildProgress) => {
        try {
          onProgress?.(progress);
        } catch (error) {
          fail(error);
        }
      };
      if (signal?.aborted) return stop();
      signal?.addEventListener('abort', stop);
      this.listeners.add(listener);
      run.then((report) => {
        end();
        resolve(report);
      }, fail);
    });
  }
}

/** What an operator has stopped is not begun again automatically before this time. */
const AFTER_STOP_MS = 300_000;
const REASON_LENGTH = 300;

type Phase = BloomRebuildProgress['phase'];

/** A record without the process that made it. */
export type RunOutcome = Omit<BloomRebuildRecord, 'host' | 'pid'>;

/** A run of this process, as others are to see it. */
export class FollowedRun {
  readonly id = randomBytes(8).toString('hex');
  /** Undefined until the run holds the lock. */
  progress: BloomRebuildProgress | undefined;
  startedAt = new Date();

  private since = performance.now();
  private phaseSince = this.since;
  private readonly durations = new Map<Phase, number>();

  constructor(
    private readonly run: {
      readonly abort: (error: Error) => void;
      /** Called when the run holds the lock. */
      readonly onBegun: () => void;
    },
  ) {}

  /** Whether the run holds the lock: a process that was skipped has nothing to report. */
  get hasBegun(): boolean {
    return this.progress !== undefined;
  }

  readonly report = (progress: BloomRebuildProgress): void => {
    const now = performance.now();
    if (!this.progress) {
      this.startedAt = new Date();
      this.since = now;
      this.run.onBegun();
    } else if (progress.phase !== this.progress.phase) this.endPhase(now);
    if (progress.phase !== this.progress?.phase) this.phaseSince = now;
    this.progress = progress;
  };

  stop(by: string): void {
    this.run.abort(new BloomRebuildError('aborted', stoppedBy(by), { retryAfterMs: AFTER_STOP_MS }));
  }

  published(report: BloomRebuildReport & { outcome: 'published' }): RunOutcome {
    const { ids, distinctIds, bytes } = report;
    return { ...this.end('published'), ids, distinctIds, bytes };
  }

  failed(error: unknown): RunOutcome {
    const reason = error instanceof BloomRebuildError ? error.reason : undefined;
    return { ...this.end(reason === 'aborted' ? 'stopped' : 'failed'), reason: reasonOf(error) };
  }

  private end(outcome: RunOutcome['outcome']): Omit<RunOutcome, 'reason'> {
    const now = performance.now();
    this.endPhase(now);
    const phases = [...this.durations].map(([phase, ms]) => ({ phase, durationMs: Math.round(ms) }));
    return { outcome, startedAt: this.startedAt, durationMs: Math.round(now - this.since), phases };
  }

  /** A run that was planned again passes some phases twice. */
  private endPhase(now: number): void {
    if (!this.progress) return;
    const { phase } = this.progress;
    this.durations.set(phase, (this.durations.get(phase) ?? 0) + now - this.phaseSince);
  }
}

/** Only the first line of an error that may quote an id: drivers say there what failed. */
function reasonOf(error: unknown): string {
  if (!(error instanceof BloomRebuildError)) return firstLine(describeError(error));
  if (error.reason === 'bad-id') return BAD_ID_LEFT_OUT;
  return firstLine(describeError(error.cause ?? error));
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0]!.slice(0, REASON_LENGTH);
}
