import type { BloomEventListener } from '../common/index.js';
import { hasFixedSize, isMadeByOthers, storedBytes } from '../filter/index.js';
import type { FilterDefinition, ManagedFilter } from '../service/index.js';

const LOOK_EVERY_MS = 60_000;

/** Looks after the filters of this process: what endangers them at start-up, and whether they have outgrown their plan. */
export class FilterWatch {
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly emit: BloomEventListener) {}

  start(filters: readonly ManagedFilter[]): void {
    for (const filter of filters) void this.advise(filter);
    this.timer = setInterval(() => {
      for (const filter of filters) void this.look(filter);
    }, LOOK_EVERY_MS);
    this.timer.unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** Rebuilds a filter that holds more ids than planned; which process does is decided by the lease. */
  async look(filter: ManagedFilter): Promise<void> {
    try {
      const { count, capacity, errorRate, modelledErrorRate, rebuilding } = await filter.info();
      if (modelledErrorRate === undefined || rebuilding) return;
      const isFixed = hasFixedSize(filter.definition.layout);
      // Bits that others have chosen may be more than this application needs.
      if (isFixed ? modelledErrorRate <= errorRate : count <= capacity) return;
      this.emit({ type: 'overfull', filter: filter.name, count, capacity, modelledErrorRate });
      if (!filter.definition.source || isFixed) return;
      // A run that fails has told so by its event.
      await filter.rebuild({ unless: isWithinPlan, occasion: { kind: 'recovery' } }).catch(() => {});
    } catch (error) {
      this.emit({ type: 'store-error', filter: filter.name, operation: 'look after the filter', error });
    }
  }

  private async advise(filter: ManagedFilter): Promise<void> {
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
    for (const text of texts) this.emit({ type: 'advice', filter: filter.name, text });
  }
}

/** Whether a filter that is found nowhere is made, or taken as others have left it, by the first process that looks. */
function makesItself({ layout, create }: FilterDefinition): boolean {
  if (!isMadeByOthers(layout)) return create === 'first-start';
  return !('adopt' in layout && layout.adopt === 'explicit');
}

function isWithinPlan({ count, capacity }: { count: number; capacity: number }): string | undefined {
  return count <= capacity ? 'The filter has been rebuilt meanwhile.' : undefined;
}
