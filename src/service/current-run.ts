import type { BloomRebuildProgress } from '../common/index.js';
import { type BloomRebuildReport, rebuildError, type RebuildRequest } from '../rebuild/index.js';

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

  /** Passes on how far the run has come. */
  readonly report = (progress: BloomRebuildProgress): void => {
    for (const listener of this.listeners) listener(progress);
  };

  /**
   * What the run gives. The caller may stop waiting by its own signal; the run goes on.
   *
   * @throws {BloomRebuildError} as the run does, and when the caller has stopped.
   */
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
