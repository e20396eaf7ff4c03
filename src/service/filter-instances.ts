import {
  BloomConfigError,
  type BloomEventListener,
  type BloomRebuildProgress,
  printed,
} from '../common/index.js';
import type { EndedRun, InstanceBoard } from '../store/index.js';
import { instanceOf, recordOf, runOf, textOfInstance, textOfRecord, textOfRun } from './board-texts.js';
import type { FilterDefinition } from './filter-definition.js';
import { FollowedRun, type RunOutcome } from './followed-run.js';
import type { BloomGuardMode } from './guard-counts.js';
import type { GuardState } from './guard-state.js';
import { type InstanceIdentity, newIdentity } from './instance-identity.js';
import type { BloomInstances } from './instances.js';
import { LocalBoard } from './local-board.js';
import type { BloomFilterMetrics, BloomPhaseDuration } from './metrics.js';
import { wrongBy, wrongMode } from './service.messages.js';
import { isGuardMode, SharedMode, sharedModeOf } from './shared-mode.js';

const BY_LENGTH = 200;
/** Records that wait for the store to be back. */
const MOST_WAITING = 10;

export interface FilterInstancesContext {
  readonly filter: string;
  readonly identity: InstanceIdentity;
  readonly board: InstanceBoard;
  readonly guarding: GuardState;
  readonly emit: BloomEventListener;
  readonly metrics: () => BloomFilterMetrics;
  /** How long a report of this process is believed. */
  readonly lifeMs: number;
  /** The same of its run. */
  readonly runLifeMs: number;
}

/** What this process reports of one filter to the others, and hears of them. */
export class FilterInstances {
  readonly sharedMode: SharedMode;
  /** Of the last run of this process that ended. */
  lastPhases: readonly BloomPhaseDuration[] = [];
  private run: FollowedRun | undefined;
  /** Not noted yet, the first one first. */
  private ended: readonly EndedRun[] = [];
  private flushing: Promise<void> | undefined;

  constructor(private readonly context: FilterInstancesContext) {
    this.sharedMode = new SharedMode(context.filter, context.guarding, context.emit);
  }

  /** Of the run of this process. */
  get progress(): BloomRebuildProgress | undefined {
    return this.run?.progress;
  }

  /** Reports this process, and follows what it hears. @throws {BloomUnavailableError} */
  async beat(): Promise<void> {
    const { board, identity, lifeMs, metrics } = this.context;
    const { run } = this;
    const news = await board.beat({
      instance: identity.id,
      text: textOfInstance(identity, metrics()),
      lifeMs,
      run: run?.hasBegun ? this.reportOf(run) : undefined,
      mode: this.sharedMode.known,
    });
    this.sharedMode.apply(news.mode);
    if (news.stopBy !== undefined) run?.stop(news.stopBy);
    await this.flush();
  }

  /** @throws {BloomUnavailableError} when the store cannot be asked. */
  async read(): Promise<BloomInstances> {
    const { board, filter } = this.context;
    if (board instanceof LocalBoard) await this.beat();
    const { instances, runs, running, mode } = await board.read();
    return {
      instances: instances
        .flatMap((one) => instanceOf(filter, one) ?? [])
        .sort((one, other) => one.startedAt.getTime() - other.startedAt.getTime()),
      rebuilds: runs.flatMap((text) => recordOf(text) ?? []),
      running: runOf(running),
      mode: sharedModeOf(mode),
    };
  }

  /**
   * @param mode null withdraws the mode of all: each process returns to its own.
   * @throws {BloomConfigError} for a mode that there is not, and without a name.
   * @throws {BloomUnavailableError} when it could not be set, or it is not known whether it was.
   */
  async setMode(mode: BloomGuardMode | null, by: string): Promise<void> {
    if (mode !== null && !isGuardMode(mode)) throw new BloomConfigError(wrongMode(printed(mode)));
    const { board } = this.context;
    const after = this.sharedMode.known?.at ?? 0;
    const record = await board.setMode({ mode: mode ?? undefined, by: checkedName(by, 'setMode') }, after);
    this.sharedMode.apply(record);
  }

  /**
   * False when no process reports that it rebuilds.
   *
   * @throws {BloomUnavailableError} when the store cannot be asked.
   */
  async stopRebuild(by: string): Promise<boolean> {
    const name = checkedName(by, 'stopRebuild');
    if (!this.run?.hasBegun) return this.context.board.askToStop(name);
    this.run.stop(name);
    return true;
  }

  /** @param abort ends the run with an error. */
  follow(abort: (error: Error) => void): FollowedRun {
    const run = new FollowedRun(abort);
    this.run ??= run;
    return run;
  }

  /** @param outcome left out of a run that did not begin. */
  end(run: FollowedRun, outcome?: RunOutcome): void {
    if (this.run === run) this.run = undefined;
    if (!outcome || !run.hasBegun) return;
    this.lastPhases = outcome.phases;
    const { host, pid } = this.context.identity;
    const text = textOfRecord({ ...outcome, host, pid });
    this.ended = [...this.ended, { id: run.id, at: Date.now(), text }].slice(-MOST_WAITING);
    void this.flush().catch((error: unknown) => this.report(error));
  }

  /** Takes back what is reported of this process. Never rejects: it expires. */
  async leave(): Promise<void> {
    const { board, identity } = this.context;
    try {
      await this.flush();
      await board.leave(identity.id);
    } catch {
      // The store is away; what is reported of this process expires.
    }
  }

  /** Notes the runs that have ended, one after the other; those that cannot be noted now are tried again with the next beat. */
  private async flush(): Promise<void> {
    this.flushing ??= this.noteEnded().finally(() => (this.flushing = undefined));
    await this.flushing;
  }

  private async noteEnded(): Promise<void> {
    for (let run = this.ended[0]; run; run = this.ended[0]) {
      const noted = run;
      await this.context.board.noteRun(noted);
      this.ended = this.ended.filter((one) => one !== noted);
    }
  }

  private report(error: unknown): void {
    const { emit, filter } = this.context;
    emit({ type: 'store-error', filter, operation: 'note the rebuild', error });
  }

  private reportOf(run: FollowedRun) {
    const { identity, runLifeMs: lifeMs } = this.context;
    return { id: run.id, text: textOfRun(identity, run.startedAt, run.progress), lifeMs };
  }
}

/** Of a filter in memory, which no other process has. */
export function openInstances(
  { name, leaseMs }: FilterDefinition,
  { identity = newIdentity(), guarding, emit, metrics }: OpenedInstances,
): FilterInstances {
  return new FilterInstances({
    filter: name,
    identity,
    board: new LocalBoard(),
    guarding,
    emit,
    metrics,
    lifeMs: 5000,
    runLifeMs: leaseMs,
  });
}

interface OpenedInstances {
  readonly identity?: InstanceIdentity;
  readonly guarding: GuardState;
  readonly emit: BloomEventListener;
  readonly metrics: () => BloomFilterMetrics;
}

function checkedName(by: unknown, method: string): string {
  if (typeof by !== 'string' || by.trim() === '' || by.length > BY_LENGTH)
    throw new BloomConfigError(wrongBy(method, BY_LENGTH, printed(by)));
  return by;
}
