import {
  type BloomEventListener,
  BloomIdError,
  type Clock,
  describeError,
  jittered,
  printed,
} from '../../common/index.js';
import type { BloomId, IdKey } from '../../filter/index.js';
import type { BloomFeed, BloomFeedStatus } from '../../rebuild/index.js';
import type { MarkEntries } from '../../store/index.js';
import { ReportedError } from './follower.js';
import type { IdKeys } from '../id-keys.js';
import { NOT_HOLDER } from '../service.messages.js';

export interface ChangeFeedRunnerContext {
  readonly name: string;
  readonly feed: BloomFeed;
  readonly keys: IdKeys;
  readonly onBadId: 'fail' | 'skip';
  readonly clock: Clock;
  readonly emit: BloomEventListener;
  /** Adds keys, and counts those that were new. */
  readonly add: (keys: readonly IdKey[]) => Promise<void>;
  /** False when another process follows by now. */
  readonly record: (entries: MarkEntries) => Promise<boolean>;
  /** Rebuilds the whole filter from now on; false when that did not take place. */
  readonly rebuild: () => Promise<boolean>;
}

const FIRST_PAUSE_MS = 1000;
const LAST_PAUSE_MS = 60_000;

/** Runs a feed while this process follows, and begins it again when it has failed. */
export class ChangeFeedRunner {
  /** As the feed has reported in this process. */
  status: BloomFeedStatus | undefined;
  private running: { readonly ending: AbortController; readonly ended: Promise<void> } | undefined;
  private failure: { readonly error: unknown } | undefined;

  constructor(private readonly context: ChangeFeedRunnerContext) {}

  /** Begins the feed unless it runs. Throws what the feed has failed with since the last call. */
  ensure(position: string | undefined): void {
    const { failure } = this;
    this.failure = undefined;
    if (failure) throw new ReportedError(describeError(failure.error), { cause: failure.error });
    if (this.running) return;
    const ending = new AbortController();
    const ended = this.run(position, ending.signal)
      .catch((error: unknown) => {
        if (ending.signal.aborted) return;
        this.failure = { error };
        this.context.emit({ type: 'feed-failed', filter: this.context.name, error });
      })
      .finally(() => {
        this.running = undefined;
        this.status = undefined;
      });
    this.running = { ending, ended };
  }

  /** Never rejects. */
  async stop(): Promise<void> {
    const { running } = this;
    this.failure = undefined;
    running?.ending.abort();
    await running?.ended;
  }

  private async run(position: string | undefined, signal: AbortSignal): Promise<void> {
    const { name, feed, add, record, emit } = this.context;
    const ended = new AbortController();
    // A rebuild that fills a gap may have begun before the next one was found.
    const gaps = { found: 0, filled: 0 };
    try {
      await feed.follow({
        filter: name,
        signal,
        position,
        add: async (ids) => {
          const formed = ids.flatMap((id) => this.keyOf(id) ?? []);
          if (formed.length > 0) await add(formed);
        },
        save: async (reached) => {
          if (gaps.filled < gaps.found) return false;
          if (!(await record({ position: reached }))) throw new Error(NOT_HOLDER);
          return true;
        },
        missed: (reason) => {
          const gap = ++gaps.found;
          emit({ type: 'feed-gap', filter: name, reason });
          void this.fillGap(AbortSignal.any([signal, ended.signal])).then((isFilled) => {
            if (isFilled) gaps.filled = Math.max(gaps.filled, gap);
          });
        },
        report: (status) => (this.status = status),
      });
    } finally {
      ended.abort();
    }
  }

  private keyOf(id: BloomId): IdKey | undefined {
    const { name, keys, emit, onBadId } = this.context;
    try {
      return keys.ofAdded(id);
    } catch (error) {
      if (!(error instanceof BloomIdError) || onBadId === 'fail') throw error;
      emit({ type: 'ids-skipped', filter: name, skipped: 1, example: printed(id), error });
      return undefined;
    }
  }

  private async fillGap(signal: AbortSignal): Promise<boolean> {
    const { clock, rebuild } = this.context;
    for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(2 * pauseMs, LAST_PAUSE_MS)) {
      // A run that fails has reported that by its event.
      if (await rebuild().catch(() => false)) return true;
      await clock.sleep(jittered(pauseMs), signal).catch(() => {});
    }
    return false;
  }
}
