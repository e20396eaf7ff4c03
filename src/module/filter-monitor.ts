import { type BloomEvent, type BloomEventListener, systemClock } from '../common/index.js';
import {
  newRowsAbsent,
  NO_DRAIN,
  NO_OWNER,
  notMadeYet,
  rebuiltAllTheTime,
  toppedUpAllTheTime,
} from './module.messages.js';
import type { BloomFilterInfo, FilterDefinition, ManagedFilter } from '../service/index.js';
import type { BuildOccasion } from '../store/index.js';

const LOOK_EVERY_MS = 60_000;
/** Advice is looked for at start and with every tenth look: an operator may have followed it. */
const LOOKS_PER_ADVICE = 10;
/** A filter that is rebuilt more often is rebuilt all the time, and so is one whose rebuilds wait longer. */
const LEAST_EVERY_MS = 1000;
/** Ten questions a second. */
const LEAST_TOP_UP_MS = 100;

/** What is known of the application. */
export interface MonitoredSetup {
  /** Whether filters belong to this application, or it chose to claim none. Default true. */
  readonly hasOwner?: boolean;
  /** Whether something in this application records the ids of new rows. Default: always. */
  readonly isRecorded?: (filter: string) => boolean;
}

/** Reports what endangers the filters of this process, and notices when they outgrow their plan. */
export class FilterMonitor {
  private readonly pacers = new WeakMap<ManagedFilter, OverfullPacer>();
  private readonly acting = new WeakSet<ManagedFilter>();
  /** Filters that an event has reported while this process acted: its findings may be older. */
  private readonly reported = new WeakSet<ManagedFilter>();
  /** Advice that holds, of each filter. */
  private readonly given = new WeakMap<ManagedFilter, readonly string[]>();
  private looks = 0;
  private filters: readonly ManagedFilter[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly emit: BloomEventListener,
    private readonly listen?: (listener: BloomEventListener) => void,
    private readonly setup: MonitoredSetup = {},
  ) {}

  start(filters: readonly ManagedFilter[]): void {
    this.filters = filters;
    this.listen?.((event) => this.onEvent(event));
    for (const filter of filters) void this.advise(filter);
    this.timer = setInterval(() => {
      const isForAdvice = ++this.looks % LOOKS_PER_ADVICE === 0;
      for (const filter of filters) {
        void this.look(filter);
        if (isForAdvice) void this.advise(filter);
      }
    }, LOOK_EVERY_MS);
    this.timer.unref();
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  /** Rebuilds a filter that holds more ids than planned, if that is due. */
  look(filter: ManagedFilter): Promise<void> {
    return this.act(filter, () => filter.lookAtLoad());
  }

  /** Gives advice that is new, and withdraws what does not hold any more. */
  async advise(filter: ManagedFilter): Promise<void> {
    let isComplete = true;
    const texts = await this.adviceOn(filter, () => (isComplete = false));
    const before = this.given.get(filter) ?? [];
    for (const text of texts)
      if (!before.includes(text)) this.emit({ type: 'advice', filter: filter.name, text });
    if (isComplete) for (const text of before) if (!texts.includes(text)) filter.advice.delete(text);
    this.given.set(filter, isComplete ? texts : [...new Set([...before, ...texts])]);
  }

  /** What in the setup endangers a filter, each with what to do about it. Never rejects. */
  async adviceOn(filter: ManagedFilter, onIncomplete?: () => void): Promise<readonly string[]> {
    const { definition } = filter;
    const hasSource = definition.source !== undefined;
    const { drainMs, everyMs, topUp } = definition;
    const bytes = definition.layout.bytes(definition);
    const texts = [
      ...(await filter.advise({
        bytes,
        hasSource,
        isCreatedAutomatically: isCreatedAutomatically(definition),
        drainMs,
        leaseMs: definition.copyLeaseMs,
        onIncomplete,
      })),
    ];
    if (hasSource && drainMs === 0) {
      texts.push(NO_DRAIN);
    }
    if (everyMs !== undefined && everyMs < Math.max(LEAST_EVERY_MS, drainMs)) {
      texts.push(rebuiltAllTheTime(everyMs, drainMs));
    }
    if (topUp && topUp.everyMs < LEAST_TOP_UP_MS) {
      texts.push(toppedUpAllTheTime(topUp.everyMs));
    }
    if (hasSource && this.setup.hasOwner === false && definition.owner === undefined) {
      texts.push(NO_OWNER);
    }
    const { source, whyNotCovered, feed } = definition;
    // What says nothing of its order is a source of the application.
    if (
      source?.idOrder !== undefined &&
      whyNotCovered !== undefined &&
      !topUp &&
      !feed &&
      this.setup.isRecorded?.(filter.name) === false
    )
      texts.push(newRowsAbsent(whyNotCovered));
    if (!hasSource && definition.create === 'explicit' && (await isUnbuilt(filter, onIncomplete)))
      texts.push(notMadeYet(filter.name));
    return texts;
  }

  /** An add of this process has noticed it, before the next look was due. */
  private onEvent(event: BloomEvent): void {
    if (event.type !== 'overfull' || this.timer === undefined) return;
    const filter = this.filters.find(({ name }) => name === event.filter);
    if (!filter) return;
    if (this.acting.has(filter)) this.reported.add(filter);
    else void this.act(filter, () => filter.info());
  }

  private async act(filter: ManagedFilter, find: () => Promise<BloomFilterInfo | undefined>): Promise<void> {
    if (this.acting.has(filter)) return;
    this.acting.add(filter);
    try {
      const info = await find();
      const { source, layout } = filter.definition;
      // `rebuilding` may be left from a process that died: only the lock shows whether a rebuild is running.
      if (!info || !source || layout.hasFixedSize) return;
      const occasion = await this.occasion(filter, info);
      // A run that fails has reported that by its event.
      if (occasion) await filter.rebuild({ unless: unlessRebuilt(info), occasion }).catch(() => {});
    } catch (error) {
      this.emit({ type: 'store-error', filter: filter.name, operation: 'look after the filter', error });
    } finally {
      this.acting.delete(filter);
      if (this.reported.delete(filter) && this.timer !== undefined)
        void this.act(filter, () => filter.info());
    }
  }

  /** A source that has outgrown the plan is due at once; ids that it does not have wait. */
  private async occasion(
    filter: ManagedFilter,
    { builtAt, count, capacity }: BloomFilterInfo,
  ): Promise<BuildOccasion | undefined> {
    const pacer = this.pacers.get(filter) ?? new OverfullPacer();
    this.pacers.set(filter, pacer);
    if (pacer.isDue(builtAt?.getTime() ?? 0)) return { kind: 'overfull', withinMs: pacer.betweenMs };
    const { source, stallMs } = filter.definition;
    if (!source?.count || !pacer.mayAskSource(count / capacity)) return undefined;
    const stall = new AbortController();
    try {
      const given = await Promise.race([
        (async () => source.count!())(),
        systemClock.sleep(stallMs, stall.signal).then(() => undefined),
      ]);
      return given !== undefined && Number(given) > capacity ? { kind: 'recovery' } : undefined;
    } catch (error) {
      this.emit({ type: 'store-error', filter: filter.name, operation: 'count the source', error });
      return undefined;
    } finally {
      stall.abort();
    }
  }
}

async function isUnbuilt(filter: ManagedFilter, onIncomplete?: () => void): Promise<boolean> {
  try {
    return (await filter.info()).state === 'unbuilt';
  } catch {
    // Lookups and adds report that the store cannot be asked.
    onIncomplete?.();
    return false;
  }
}

/** Whether the first process that finds no filter creates it, or takes an external one as it is. */
function isCreatedAutomatically({ layout, create }: FilterDefinition): boolean {
  return layout.isMadeByOthers ? !layout.waitsForAdopt : create === 'first-start';
}

function unlessRebuilt(info: BloomFilterInfo) {
  const seen = new Set((info.parts ?? [info]).map(({ builtAt }) => builtAt?.getTime()));
  return ({ count, capacity, builtAt }: { count: number; capacity: number; builtAt: Date | undefined }) =>
    (count <= capacity && info.count > info.capacity) || !seen.has(builtAt?.getTime())
      ? 'The filter has been rebuilt meanwhile.'
      : undefined;
}

/** Between the build of a filter and the next one for being overfull, at first. */
const FIRST_PAUSE_MS = 10 * 60_000;
const LAST_PAUSE_MS = 24 * 60 * 60_000;

/** When a filter may be rebuilt for being overfull, so that failed creates cannot buy scans of the table. */
export class OverfullPacer {
  private pauseMs = FIRST_PAUSE_MS;
  /** When the generation was built that was overfull last, by `Date.now()`. */
  private builtAt: number | undefined;
  /** Its multiple of the capacity when the source was asked last, rounded down to a power of two. */
  private askedLevel = 0;

  /** Between two rebuilds for this reason, in milliseconds, for now. */
  get betweenMs(): number {
    return this.pauseMs;
  }

  /**
   * To be called with each overfull generation; whether a rebuild is due, by the time since its build. A
   * build in the future says that clocks differ, and delays nothing: the store has one clock for all.
   */
  isDue(builtAt: number, now = Date.now()): boolean {
    if (builtAt !== this.builtAt) {
      // One that is overfull soon after the last one was: what fills it goes on.
      if (this.builtAt !== undefined) {
        const isSoon = builtAt - this.builtAt <= 2 * this.pauseMs;
        this.pauseMs = isSoon ? Math.min(2 * this.pauseMs, LAST_PAUSE_MS) : FIRST_PAUSE_MS;
      }
      this.builtAt = builtAt;
      this.askedLevel = 0;
    }
    return builtAt > now || now - builtAt >= this.pauseMs;
  }

  /**
   * Whether to ask the source for its count: once for each generation, and at each power of two of the
   * capacity, at which the event `overfull` comes. Twice the last number could lie just beyond the next
   * power.
   */
  mayAskSource(timesCapacity: number): boolean {
    const level = 2 ** Math.floor(Math.log2(timesCapacity));
    if (level <= this.askedLevel) return false;
    this.askedLevel = level;
    return true;
  }
}
