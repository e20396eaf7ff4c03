import { BloomConfigError, type BloomRebuildProgress, printed } from '../common/index.js';
import type { BoardMode, EndedRun, InstanceBoard, StoredFilter } from '../store/index.js';
import {
  type BloomInstances,
  instanceOf,
  isGuardMode,
  LocalBoard,
  recordOf,
  runOf,
  SharedMode,
  sharedModeOf,
  textOfInstance,
  textOfRecord,
  textOfRun,
} from './instances.js';
import { type FilterEnvironment, type InstanceIdentity, newIdentity } from './filter-environment.js';
import type { FilterDefinition } from './filter-definition.js';
import { FollowedRun, type RunOutcome } from './filter-builds.js';
import type { BloomFilterMetrics, BloomGuardMode, BloomPhaseDuration } from './metrics.js';
import type { GuardState } from './guard-state.js';
import { Heartbeat } from './heartbeat.js';
import { wrongBy, wrongMode } from './service.messages.js';

const BY_LENGTH = 200;
/** A process whose guards nobody calls looks at the mode of all processes this often. */
const IDLE_LOOK_MS = 12_000;
/** A report is believed while so many beats could have renewed it. */
const BEATS_IN_LIFE = 5;
/** Records that wait for the store to be back. */
const MOST_WAITING = 10;

export interface FilterInstancesContext extends Pick<FilterEnvironment, 'emit' | 'identity' | 'heartbeat'> {
  readonly guarding: GuardState;
  readonly metrics: () => BloomFilterMetrics;
}

/** Reports one filter of this process to the other processes, and takes what they report. */
export class FilterInstances {
  readonly sharedMode: SharedMode;
  /** Phases of the last run of this process that ended. */
  lastPhases: readonly BloomPhaseDuration[] = [];
  private readonly identity: InstanceIdentity;
  /** Shared with other processes where the store has one. */
  private readonly board: InstanceBoard;
  private readonly filter: string;
  /** How often this process reports, or looks at the mode of all; 0: only when it is asked, or never. */
  private readonly everyMs: number;
  private readonly heartbeat: Heartbeat | undefined;
  private readonly lifeMs: number;
  private readonly runLifeMs: number;
  private run: FollowedRun | undefined;
  /** Whether this process reports only because it rebuilds, as one of the command line. */
  private beatsForRun = false;
  /** Runs that are not recorded yet, the first one first. */
  private ended: readonly EndedRun[] = [];
  private flushing: Promise<void> | undefined;
  /** Whether this process reports also where no dashboard and no mode for all is used. */
  private isReportWanted: boolean;
  private hasReported = false;
  /** When the mode of all processes was read last. */
  private modeReadAt = -Infinity;
  /** Whether the store has an older mode than this process. */
  private isStoreBehind = false;
  private guardedCalls = 0;

  constructor(
    { name, leaseMs }: FilterDefinition,
    inStore: StoredFilter,
    private readonly context: FilterInstancesContext,
  ) {
    const { emit, guarding, identity = newIdentity(), heartbeat } = context;
    this.filter = name;
    this.identity = identity;
    this.board = inStore.board ?? new LocalBoard();
    this.everyMs = (inStore.board && heartbeat && heartbeat.everyMs) || 0;
    this.isReportWanted = Boolean(heartbeat && heartbeat.isAlways);
    this.sharedMode = new SharedMode(name, guarding, emit);
    const beat = { filter: name, emit, everyMs: this.everyMs, beat: () => this.beat() };
    this.heartbeat = this.everyMs > 0 ? new Heartbeat(beat) : undefined;
    this.lifeMs = BEATS_IN_LIFE * this.everyMs;
    this.runLifeMs = Math.max(leaseMs, this.lifeMs);
  }

  /** Progress of the run of this process. */
  get progress(): BloomRebuildProgress | undefined {
    return this.run?.progress;
  }

  /** Resolves when this process knows the mode of all, or when that takes too long. Never rejects. */
  async start(): Promise<void> {
    this.beatsForRun = false;
    if (this.heartbeat) this.board.followMode?.((mode) => this.onMode(mode));
    await this.heartbeat?.start();
  }

  /** Reports this process from now on. Never rejects. */
  async startReporting(): Promise<void> {
    if (this.isReportWanted) return;
    this.isReportWanted = true;
    if (this.heartbeat?.isRunning) await this.heartbeat.beat();
  }

  /** Takes back what is reported of this process. Never rejects. */
  async close(): Promise<void> {
    this.heartbeat?.stop();
    const { board, identity } = this;
    try {
      await this.flush();
      if (this.hasReported) await board.leave(identity.id);
    } catch {
      // The store is away; what is reported of this process expires.
    }
  }

  async read(): Promise<BloomInstances> {
    const { board, filter } = this;
    await this.startReporting();
    // Where no other process reads the board, this one reports when it is asked.
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

  /** @param mode null withdraws the mode of all: each process returns to its own. */
  async setMode(mode: BloomGuardMode | null, by: string): Promise<void> {
    if (mode !== null && !isGuardMode(mode)) throw new BloomConfigError(wrongMode(printed(mode)));
    const { board } = this;
    const after = this.sharedMode.known?.at ?? 0;
    const record = await board.setMode({ mode: mode ?? undefined, by: checkedName(by, 'setMode') }, after);
    this.sharedMode.apply(record);
  }

  /** False when no process reports that it rebuilds. */
  async stopRebuild(by: string): Promise<boolean> {
    const name = checkedName(by, 'stopRebuild');
    if (!this.run?.hasBegun) return this.board.askToStop(name);
    this.run.stop(name);
    return true;
  }

  /** @param abort ends the run with an error. */
  follow(abort: (error: Error) => void): FollowedRun {
    const run = new FollowedRun({ abort, onBegun: () => this.beatForRun() });
    this.run ??= run;
    return run;
  }

  /** @param outcome left out of a run that did not begin. */
  end(run: FollowedRun, outcome?: RunOutcome): void {
    if (this.run === run) this.run = undefined;
    if (this.beatsForRun) this.heartbeat?.stop();
    if (!outcome || !run.hasBegun) return;
    this.lastPhases = outcome.phases;
    const isSilent = !this.heartbeat && !(this.board instanceof LocalBoard);
    if (isSilent) return;
    const { host, pid } = this.identity;
    const text = textOfRecord({ ...outcome, host, pid });
    this.ended = [...this.ended, { id: run.id, text }].slice(-MOST_WAITING);
    void this.flush().catch((error: unknown) => this.report(error));
  }

  private beatForRun(): void {
    if (!this.heartbeat || this.heartbeat.isRunning) return;
    this.beatsForRun = true;
    void this.heartbeat.start();
  }

  /** A process with a mode for all keeps reporting, so that a store that loses the mode gets it back. */
  private get isReported(): boolean {
    const { isReportWanted, isStoreBehind, sharedMode, run, board } = this;
    const isNews = run?.hasBegun === true || sharedMode.known?.mode !== undefined || isStoreBehind;
    return isReportWanted || isNews || !board.look;
  }

  private onMode(mode: BoardMode | undefined): void {
    const { known } = this.sharedMode;
    this.modeReadAt = performance.now();
    this.isStoreBehind = mode !== undefined && known !== undefined && mode.at < known.at;
    this.sharedMode.apply(mode);
  }

  /** Reads the mode of all where no report is wanted; false when nothing was sent. */
  private async look(): Promise<boolean> {
    const { board, everyMs } = this;
    const { calls, mode } = this.context.guarding;
    // Guards that are off ask nothing, so that only this look finds the next mode.
    const isInUse = calls !== this.guardedCalls || mode === 'off';
    this.guardedCalls = calls;
    // With half a beat of room, since timers are late and early by turns.
    if (performance.now() - this.modeReadAt < (isInUse ? everyMs / 2 : IDLE_LOOK_MS)) return false;
    await board.look?.();
    return true;
  }

  /** Reports this process, and applies what the store answers; false when nothing was sent. */
  private async beat(): Promise<boolean> {
    if (!this.isReported) return this.look();
    const { board, identity, run } = this;
    this.hasReported = true;
    const news = await board.beat({
      instance: identity.id,
      text: textOfInstance(identity, this.context.metrics()),
      lifeMs: this.lifeMs,
      run: run?.hasBegun ? this.reportOf(run) : undefined,
      mode: this.sharedMode.known,
    });
    if (!news) return false;
    this.onMode(news.mode);
    if (news.stopBy !== undefined) run?.stop(news.stopBy);
    if (news.failure) throw news.failure;
    await this.flush();
    return true;
  }

  /**
   * Records the runs that have ended. A run that cannot be recorded now is tried again with the next beat.
   */
  private async flush(): Promise<void> {
    this.flushing ??= this.recordEnded().finally(() => (this.flushing = undefined));
    await this.flushing;
  }

  private async recordEnded(): Promise<void> {
    for (let run = this.ended[0]; run; run = this.ended[0]) {
      const noted = run;
      await this.board.recordRun(noted);
      this.ended = this.ended.filter((one) => one !== noted);
    }
  }

  private report(error: unknown): void {
    this.context.emit({ type: 'store-error', filter: this.filter, operation: 'note the rebuild', error });
  }

  private reportOf(run: FollowedRun) {
    const text = textOfRun(this.identity, run.startedAt, run.progress);
    return { id: run.id, text, lifeMs: this.runLifeMs };
  }
}

function checkedName(by: unknown, method: string): string {
  if (typeof by !== 'string' || by.trim() === '' || by.length > BY_LENGTH)
    throw new BloomConfigError(wrongBy(method, BY_LENGTH, printed(by)));
  return by;
}
