import {
  type BoardContents,
  type BoardMode,
  type BoardNews,
  type EndedRun,
  type InstanceBeat,
  type InstanceBoard,
  type MarksAnswer,
  type MarkEntries,
  type MarksUpdate,
  type MarksQuestion,
  type HighWaterMarks,
  RUNS_KEPT,
} from '../store/index.js';

/** Where no other process has the filter. */
export class LocalBoard implements InstanceBoard {
  private beaten: (InstanceBeat & { readonly seenAt: number }) | undefined;
  private runs: readonly EndedRun[] = [];
  private mode: BoardMode | undefined;
  private stop: { readonly run: string; readonly by: string } | undefined;

  async beat(beat: InstanceBeat): Promise<BoardNews> {
    this.beaten = { ...beat, seenAt: Date.now() };
    const isAsked = beat.run !== undefined && beat.run.id === this.stop?.run;
    return { mode: this.mode, stopBy: isAsked ? this.stop?.by : undefined };
  }

  async leave(): Promise<void> {
    this.beaten = undefined;
  }

  async recordRun(run: EndedRun): Promise<void> {
    const others = this.runs.filter(({ id }) => id !== run.id);
    this.runs = [run, ...others].slice(0, RUNS_KEPT);
    if (this.beaten?.run?.id === run.id) this.beaten = { ...this.beaten, run: undefined };
  }

  async read(): Promise<BoardContents> {
    const { beaten, runs, mode } = this;
    return {
      instances: beaten ? [{ id: beaten.instance, seenAt: beaten.seenAt, text: beaten.text }] : [],
      runs: runs.map(({ text }) => text),
      running: beaten?.run?.text,
      mode,
    };
  }

  async setMode(mode: Omit<BoardMode, 'at'>, after: number): Promise<BoardMode> {
    this.mode = { ...mode, at: Math.max(Date.now(), after + 1) };
    return this.mode;
  }

  async askToStop(by: string): Promise<boolean> {
    const run = this.beaten?.run;
    if (run) this.stop = { run: run.id, by };
    return run !== undefined;
  }
}

/** Where no other process has the filter, or the store cannot tell it anything. */
export class LocalMarks implements HighWaterMarks {
  private entries: MarkEntries = {};
  private holder: string | undefined;
  private at: number | undefined;

  async ask({ holder, lifeMs }: MarksQuestion): Promise<MarksAnswer> {
    if (lifeMs > 0) this.holder = holder;
    else if (this.holder === holder) this.holder = undefined;
    const ageMs = this.at === undefined ? undefined : performance.now() - this.at;
    return { isHolder: this.holder === holder && lifeMs > 0, entries: this.entries, ageMs };
  }

  async record({ holder, expectedMark, entries }: MarksUpdate): Promise<boolean> {
    if (holder !== undefined && holder !== this.holder) return false;
    if (expectedMark !== undefined && expectedMark !== (this.entries.mark ?? '')) return false;
    const merged = Object.entries({ ...this.entries, ...entries }).filter(([, text]) => text !== '');
    this.entries = Object.fromEntries(merged) as MarkEntries;
    if (holder !== undefined) this.at = performance.now();
    return true;
  }
}
