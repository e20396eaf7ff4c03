import { type BloomEvent, type BloomEventListener, systemClock } from '../common/index.js';
import { OverfullPacer } from './overfull-pacer.js';
import { hasFixedSize, isMadeByOthers, storedBytes } from '../filter/index.js';
import type { BloomFilterInfo, FilterDefinition, ManagedFilter } from '../service/index.js';
import type { BuildOccasion } from '../store/index.js';

const LOOK_EVERY_MS = 60_000;

/** Looks after the filters of this process: what endangers them at start-up, and whether they have outgrown their plan. */
export class FilterMonitor {
  private readonly pacers = new WeakMap<ManagedFilter, OverfullPacer>();
  private readonly acting = new WeakSet<ManagedFilter>();
  private filters: readonly ManagedFilter[] = [];
  private timer: NodeJS.Timeout | undefined;

  /**
   * @param listen has a listener called with every event.
   * @param hasOwner whether filters belong to this application, or it was asked to have none.
   */
  constructor(
    private readonly emit: BloomEventListener,
    private readonly listen?: (listener: BloomEventListener) => void,
    private readonly hasOwner = true,
  ) {}

  start(filters: readonly ManagedFilter[]): void {
    this.filters = filters;
    this.listen?.((event) => this.onEvent(event));
    for (const filter of filters) void this.advise(filter);
    this.timer = setInterval(() => {
      for (const filter of filters) void this.look(filter);
    }, LOOK_EVERY_MS);
    this.timer.unref();
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  /** Has a filter rebuilt that holds more ids than planned, if that is due; which process does is decided by the lease. */
  look(filter: ManagedFilter): Promise<void> {
    return this.act(filter, () => filter.lookAtLoad());
  }

  /** What in the setup endangers a filter, each with what to do about it. Never rejects. */
  async adviceOn(filter: ManagedFilter): Promise<readonly string[]> {
    const { definition } = filter;
    const hasSource = definition.source !== undefined;
    const { drainMs } = definition;
    const bytes = storedBytes(definition.layout, definition);
    const texts = [
      ...(await filter.advise({ bytes, hasSource, makesItself: makesItself(definition), drainMs })),
    ];
    if (hasSource && drainMs === 0) {
      texts.push(
        'rebuild.drainMs is 0: an id that is added just before a rebuild, and whose row is committed after it has read the table, is ' +
          'answered "absent". Set drainMs to the longest time from an add to its visible row.',
      );
    }
    if (hasSource && !this.hasOwner && definition.owner === undefined) {
      texts.push(
        'No package.json with a name was found, so this application claims no filter in Redis: another one with a filter of this name would ' +
          'replace it by its own rows. Set owner in BloomModule, the same in all instances; false says that this is as it should be.',
      );
    }
    return texts;
  }

  /** An add of this process has noticed it, before the next look was due. */
  private onEvent(event: BloomEvent): void {
    if (event.type !== 'overfull' || this.timer === undefined) return;
    const filter = this.filters.find(({ name }) => name === event.filter);
    if (filter) void this.act(filter, () => filter.info());
  }

  private async act(filter: ManagedFilter, find: () => Promise<BloomFilterInfo | undefined>): Promise<void> {
    if (this.acting.has(filter)) return;
    this.acting.add(filter);
    try {
      const info = await find();
      const { source, layout } = filter.definition;
      // What a process that died has left in staging says that a rebuild goes on; whether one does is for the lease to say.
      if (!info || !source || hasFixedSize(layout)) return;
      const occasion = await this.occasion(filter, info);
      // A run that fails has told so by its event.
      if (occasion) await filter.rebuild({ unless: unlessRebuilt(info), occasion }).catch(() => {});
    } catch (error) {
      this.emit({ type: 'store-error', filter: filter.name, operation: 'look after the filter', error });
    } finally {
      this.acting.delete(filter);
    }
  }

  /** A source that has outgrown the plan is due at once; ids that it does not have wait, however many somebody adds. */
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

  private async advise(filter: ManagedFilter): Promise<void> {
    for (const text of await this.adviceOn(filter)) this.emit({ type: 'advice', filter: filter.name, text });
  }
}

/** Whether a filter that is found nowhere is made, or taken as others have left it, by the first process that looks. */
function makesItself({ layout, create }: FilterDefinition): boolean {
  if (!isMadeByOthers(layout)) return create === 'first-start';
  return !('adopt' in layout && layout.adopt === 'explicit');
}

function unlessRebuilt(info: BloomFilterInfo) {
  return ({ count, capacity, builtAt }: { count: number; capacity: number; builtAt: Date | undefined }) =>
    count <= capacity || builtAt?.getTime() !== info.builtAt?.getTime()
      ? 'The filter has been rebuilt meanwhile.'
      : undefined;
}
