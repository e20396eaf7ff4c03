import { BloomRebuildError, type BloomRebuildProgress, BloomUnavailableError } from '../common/index.js';
import {
  type BloomIdSource,
  type BloomRebuildReport,
  type RebuildJob,
  type RebuildRequest,
  runRebuild,
} from '../rebuild/index.js';
import type { FilterInstances } from './filter-instances.js';
import { CurrentRun } from './current-run.js';
import { CREATED_MEANWHILE, notCreated, notMade, SHUTTING_DOWN } from './service.messages.js';

const CREATION_PAUSE_MS = 50;
const CREATION_ATTEMPTS = 200;

const NO_IDS: BloomIdSource = { async *ids() {}, count: async () => 0 };

export interface FilterBuildsOptions {
  readonly job: Omit<RebuildJob, 'source'>;
  readonly onPublished: () => void;
  /** Reports the runs to the other processes. */
  readonly instances: Pick<FilterInstances, 'follow' | 'end'>;
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
