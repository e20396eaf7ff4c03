import {
  BloomRebuildError,
  type BloomRebuildProgress,
  BloomUnavailableError,
  describeError,
} from '../common/index.js';
import {
  type BloomIdSource,
  type BloomRebuildReport,
  rebuildError,
  type RebuildJob,
  type RebuildRequest,
  runRebuild,
} from '../rebuild/index.js';
import { randomBytes } from 'node:crypto';
import type { BloomRebuildRecord } from './instances.js';
import {
  BAD_ID_LEFT_OUT,
  CREATED_MEANWHILE,
  notCreated,
  notMade,
  SHUTTING_DOWN,
  stoppedBy,
} from './service.messages.js';

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

const CREATION_PAUSE_MS = 50;
const CREATION_ATTEMPTS = 200;

const NO_IDS: BloomIdSource = { async *ids() {}, count: async () => 0 };

export interface FilterBuildsOptions {
  readonly job: Omit<RebuildJob, 'source'>;
  readonly onPublished: () => void;
  /** Reports the runs to the other processes. */
  readonly instances: {
    follow(abort: (error: Error) => void): FollowedRun;
    end(run: FollowedRun, outcome?: RunOutcome): void;
  };
}

/** The builds of one filter by this process, from a source or empty. They end with the application. */
export class FilterBuilds {
  private readonly closing = new AbortController();
  private readonly runs = new Set<Promise<unknown>>();
  private created: Promise<void> | undefined;
  private current: { readonly run: Promise<BloomRebuildReport>; readonly shared: CurrentRun } | undefined;
  private begun = 0;

  constructor(private readonly options: FilterBuildsOptions) {}

  /**
   * Runs, or joins the run of this process that is under way: the call of an application would be skipped for
   * it.
   */
  async rebuild(source: BloomIdSource, request: RebuildRequest): Promise<BloomRebuildReport> {
    const { force = false, join = true, occasion } = request;
    const before = this.begun;
    while (occasion?.kind === 'manual' && this.current) {
      const { run, shared } = this.current;
      const isLater = shared.number >= before;
      if ((join || isLater) && (shared.isForced || !force)) {
        const report = await shared.join(run, request);
        if (report.outcome === 'published') return report;
      } else await run.catch(() => {});
    }
    return this.begin(source, request);
  }

  private begin(source: BloomIdSource, request: RebuildRequest): Promise<BloomRebuildReport> {
    const { onProgress } = request;
    const shared = new CurrentRun(this.options.job.name, request.force ?? false, this.begun++);
    const report = (progress: BloomRebuildProgress) => {
      shared.report(progress);
      onProgress?.(progress);
    };
    const run = this.run({ ...this.options.job, source }, { ...request, onProgress: report });
    const current = { run, shared };
    this.current ??= current;
    const end = () => {
      if (this.current === current) this.current = undefined;
    };
    run.then(end, end);
    return run;
  }

  /** Builds an empty generation, without a drain. */
  async empty(request: Pick<RebuildRequest, 'unless'> = {}): Promise<BloomRebuildReport> {
    return this.run({ ...this.options.job, source: NO_IDS, drainMs: 0 }, { ...request, force: true });
  }

  /** Creates the filter, empty, unless it exists. */
  create(): Promise<void> {
    this.created ??= this.createEmpty().catch((error: unknown) => {
      this.created = undefined;
      if (!(error instanceof BloomRebuildError)) throw error;
      throw new BloomUnavailableError(notMade(this.options.job.name, error.message), { cause: error });
    });
    return this.created;
  }

  /** Stops what runs, waits for it, and starts no other run. */
  async stop(): Promise<void> {
    this.closing.abort(new Error(SHUTTING_DOWN));
    await Promise.allSettled(this.runs);
  }

  private async createEmpty(): Promise<void> {
    const { name, store, clock } = this.options.job;
    for (let attempt = 0; attempt < CREATION_ATTEMPTS; attempt++) {
      if ((await store.describe()).state !== 'unbuilt') return;
      const report = await this.empty({
        unless: ({ state }) => (state === 'unbuilt' ? undefined : CREATED_MEANWHILE),
      });
      if (report.outcome === 'published') return;
      await clock.sleep(CREATION_PAUSE_MS, this.closing.signal);
    }
    throw new BloomUnavailableError(notCreated(name));
  }

  private async run(job: RebuildJob, request: RebuildRequest): Promise<BloomRebuildReport> {
    const { instances, onPublished } = this.options;
    const stopping = new AbortController();
    const followed = instances.follow((error) => stopping.abort(error));
    const signals = [this.closing.signal, stopping.signal, ...(request.signal ? [request.signal] : [])];
    const onProgress = (progress: BloomRebuildProgress) => {
      followed.report(progress);
      request.onProgress?.(progress);
    };
    const run = runRebuild(job, { ...request, onProgress, signal: AbortSignal.any(signals) });
    this.runs.add(run);
    try {
      const report = await run;
      instances.end(followed, report.outcome === 'published' ? followed.published(report) : undefined);
      if (report.outcome === 'published') onPublished();
      return report;
    } catch (error) {
      instances.end(followed, followed.failed(error));
      throw error;
    } finally {
      this.runs.delete(run);
    }
  }
}
