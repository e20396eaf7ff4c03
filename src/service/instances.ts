import type { BloomEventListener, BloomRebuildProgress } from '../common/index.js';
import type { BloomFilterMetrics, BloomGuardMode, BloomPhaseDuration } from './metrics.js';
import { emptyMetrics } from './filter-info.js';
import {
  type BoardContents,
  type BoardMode,
  type BoardNews,
  type EndedRun,
  type InstanceBeat,
  type InstanceBoard,
  RUNS_KEPT,
} from '../store/index.js';
import type { InstanceIdentity } from './filter-environment.js';
import type { GuardState } from './guard-state.js';

/** A process that has the filter and has reported within the last seconds. */
export interface BloomInstance {
  /** Differs for each start of a process. */
  readonly id: string;
  /** Its host name. */
  readonly host: string;
  /** Its process id. */
  readonly pid: number;
  /** When it started. */
  readonly startedAt: Date;
  /** By the clock of the store. */
  readonly seenAt: Date;
  /** What it reports. */
  readonly metrics: BloomFilterMetrics;
}

/** How a rebuild of any process ended. One that was skipped has no record. */
export interface BloomRebuildRecord {
  /** How it ended. */
  readonly outcome: 'published' | 'failed' | 'stopped';
  /** When it began. */
  readonly startedAt: Date;
  /** How long it took. */
  readonly durationMs: number;
  /** Where it ran. */
  readonly host: string;
  /** The process that ran it. */
  readonly pid: number;
  /** How long each phase took. */
  readonly phases: readonly BloomPhaseDuration[];
  /** For `published` only, as the next two. */
  readonly ids?: number;
  /** About how many different ones they are. */
  readonly distinctIds?: number;
  /** The new generation's size. */
  readonly bytes?: number;
  /** Why it failed, or who stopped it; without ids. */
  readonly reason?: string;
}

/** The mode that an operator has set for all processes. */
export interface BloomSharedMode {
  /** The mode. */
  readonly mode: BloomGuardMode;
  /** The operator or program that set it. */
  readonly by: string;
  /** When. */
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
        /** Where it runs. */
        readonly host: string;
        /** The process that runs it. */
        readonly pid: number;
        /** When it began. */
        readonly startedAt: Date;
        /** How far it has come; undefined before the first report. */
        readonly progress: BloomRebuildProgress | undefined;
      }
    | undefined;
  /** Undefined while nobody has set one: each process then has its own. */
  readonly mode: BloomSharedMode | undefined;
}

/** The report of one process has no more bytes: it is written every second. */
const MOST_BYTES = 16_384;
const METHODS_KEPT = 20;
const MOST_METHODS = 100;
const ADVICE_KEPT = 5;
const ADVICE_LENGTH = 300;
/** Members that are dates, in milliseconds since 1970. */
const DATES = ['nextRunAt', 'since'];

/** What a process reports, as text. Methods with the fewest calls are left out if it is too long. */
export function textOfInstance(
  { host, pid, startedAt }: InstanceIdentity,
  metrics: BloomFilterMetrics,
): string {
  const head = { host, pid, startedAt: startedAt.getTime() };
  const write = (of: BloomFilterMetrics) => JSON.stringify({ ...head, metrics: of }, withDates);
  const advice = metrics.advice.slice(0, ADVICE_KEPT).map((text) => text.slice(0, ADVICE_LENGTH));
  const calls = ({ absent, maybe, remembered }: BloomFilterMetrics['methods'][number]) =>
    absent + maybe + remembered;
  const busiest = [...metrics.methods].sort((one, other) => calls(other) - calls(one));
  // Still more methods are too long in any case.
  const all = metrics.methods.length <= MOST_METHODS ? [metrics.methods] : [];
  for (const methods of [...all, busiest.slice(0, METHODS_KEPT)]) {
    const text = write({ ...metrics, advice, methods });
    if (Buffer.byteLength(text) <= MOST_BYTES) return text;
  }
  return write({ ...metrics, advice: [], methods: [] });
}

/**
 * Undefined for a text that no version of this package has written. What another version does not report is
 * empty.
 */
export function instanceOf(
  filter: string,
  { id, seenAt, text }: { readonly id: string; readonly seenAt: number; readonly text: string },
): BloomInstance | undefined {
  const found = parsed(text);
  if (!found || !isPlain(found.metrics)) return undefined;
  const { host, pid, startedAt } = found;
  return {
    id,
    host: String(host),
    pid: Number(pid),
    startedAt: new Date(Number(startedAt)),
    seenAt: new Date(seenAt),
    metrics: filled(emptyMetrics(filter), found.metrics) as BloomFilterMetrics,
  };
}

export function textOfRecord(record: BloomRebuildRecord): string {
  return JSON.stringify({ ...record, startedAt: record.startedAt.getTime() });
}

export function recordOf(text: string): BloomRebuildRecord | undefined {
  const found = parsed(text);
  if (!found || typeof found.outcome !== 'string' || !Array.isArray(found.phases)) return undefined;
  return { ...found, startedAt: new Date(Number(found.startedAt)) } as unknown as BloomRebuildRecord;
}

export function textOfRun(
  { host, pid }: InstanceIdentity,
  startedAt: Date,
  progress: BloomRebuildProgress | undefined,
): string {
  return JSON.stringify({ host, pid, startedAt: startedAt.getTime(), progress });
}

export function runOf(text: string | undefined): BloomInstances['running'] {
  const found = text === undefined ? undefined : parsed(text);
  if (!found) return undefined;
  const progress = isPlain(found.progress) ? (found.progress as unknown as BloomRebuildProgress) : undefined;
  return {
    host: String(found.host),
    pid: Number(found.pid),
    startedAt: new Date(Number(found.startedAt)),
    progress: progress && { ...progress, share: progress.share, remainingMs: progress.remainingMs },
  };
}

type Plain = Readonly<Record<string, unknown>>;

function isPlain(value: unknown): value is Plain {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parsed(text: string): Plain | undefined {
  try {
    const value: unknown = JSON.parse(text, (key, member: unknown) =>
      DATES.includes(key) && typeof member === 'number' ? new Date(member) : member,
    );
    return isPlain(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** `JSON.stringify` calls `toJSON` of a date before its replacer. */
function withDates(this: Plain, key: string, value: unknown): unknown {
  return DATES.includes(key) && this[key] instanceof Date ? this[key].getTime() : value;
}

/** Values of what was found, where they have the form of the template. */
function filled(template: unknown, found: unknown): unknown {
  if (template === undefined) return found;
  if (!isPlain(template)) return isOfForm(template, found) ? found : template;
  if (!isPlain(found)) return template;
  const keys = new Set([...Object.keys(template), ...Object.keys(found)]);
  return Object.fromEntries([...keys].map((key) => [key, filled(template[key], found[key])]));
}

function isOfForm(template: unknown, found: unknown): boolean {
  return Array.isArray(template) ? Array.isArray(found) : typeof template === typeof found;
}

const MODES: readonly unknown[] = ['on', 'shadow', 'off'] satisfies BloomGuardMode[];

export function isGuardMode(mode: unknown): mode is BloomGuardMode {
  return MODES.includes(mode);
}

/** The mode of all processes, as this process knows it. */
export class SharedMode {
  /** The last record that was applied. */
  known: BoardMode | undefined;
  /** What the process returns to when the mode of all is withdrawn. */
  private own: BloomGuardMode;

  constructor(
    private readonly filter: string,
    private readonly guarding: Pick<GuardState, 'mode'>,
    private readonly emit: BloomEventListener,
  ) {
    this.own = guarding.mode;
  }

  /**
   * Applies a record that is later than the one before; a mode that this version does not know changes
   * nothing.
   */
  apply(record: BoardMode | undefined): void {
    const { known, guarding } = this;
    if (!record || (known && record.at <= known.at)) return;
    if (record.mode !== undefined && !isGuardMode(record.mode)) return;
    this.known = record;
    const wasShared = known?.mode !== undefined;
    // What the application has set itself since the last record is the process's own.
    const isOwn = !wasShared || guarding.mode !== known.mode;
    if (isOwn) this.own = guarding.mode;
    if (record.mode === undefined && !wasShared) return;
    if (record.mode !== undefined) guarding.mode = record.mode;
    else if (!isOwn) guarding.mode = this.own;
    this.emit({
      type: 'mode-changed',
      filter: this.filter,
      mode: guarding.mode,
      by: record.by,
      at: new Date(record.at),
      ...(record.mode === undefined && { withdrawn: true }),
    });
  }
}

/** Undefined where nobody has set a mode for all. */
export function sharedModeOf(record: BoardMode | undefined): BloomSharedMode | undefined {
  if (!record || !isGuardMode(record.mode)) return undefined;
  return { mode: record.mode, by: record.by, at: new Date(record.at) };
}

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
