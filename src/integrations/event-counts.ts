import { type BloomEvent, BloomRebuildError } from '../common/index.js';
import { BucketCounts } from './bucket-counts.js';
import type { EventCount, RebuildCounts, RebuildOutcome } from './metrics-snapshot.js';

/** In seconds. */
const DURATION_BOUNDS = [1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14_400];

class RebuildCounter implements RebuildCounts {
  readonly outcomes: Record<RebuildOutcome, number> = { published: 0, skipped: 0, failed: 0, stopped: 0 };
  readonly durations = new BucketCounts(DURATION_BOUNDS);
}

/** Counts events as they happen. */
export class EventCounts {
  private readonly byFilter = new Map<string | undefined, Map<BloomEvent['type'], number>>();
  private readonly rebuilds = new Map<string, RebuildCounter>();
  private readonly attacked = new Set<string>();

  /** @param isFilter whether a filter of this name exists: the names of others may be any text that a client has sent. */
  constructor(private readonly isFilter: (name: string) => boolean) {}

  count(event: BloomEvent): void {
    // Reports of a run that goes on say nothing by their number.
    if (event.type === 'rebuild-progress') return;
    const filter = 'filter' in event && this.isFilter(event.filter) ? event.filter : undefined;
    let counts = this.byFilter.get(filter);
    if (!counts) this.byFilter.set(filter, (counts = new Map()));
    counts.set(event.type, (counts.get(event.type) ?? 0) + 1);
    if (filter === undefined) return;
    if (event.type === 'attack-started') this.attacked.add(filter);
    if (event.type === 'attack-ended') this.attacked.delete(filter);
    this.countRebuild(filter, event);
  }

  all(): EventCount[] {
    return [...this.byFilter].flatMap(([filter, counts]) =>
      [...counts].map(([type, count]) => ({ filter, type, count })),
    );
  }

  /** Whether an attack on the filter goes on. */
  isAttacked(filter: string): boolean {
    return this.attacked.has(filter);
  }

  rebuildsOf(filter: string): RebuildCounts {
    return this.rebuildCounter(filter);
  }

  private countRebuild(filter: string, event: BloomEvent): void {
    switch (event.type) {
      case 'rebuild-finished': {
        const counter = this.rebuildCounter(filter);
        counter.outcomes.published++;
        counter.durations.observe(event.durationMs / 1000);
        return;
      }
      case 'rebuild-skipped':
        this.rebuildCounter(filter).outcomes.skipped++;
        return;
      case 'rebuild-failed': {
        const isStopped = event.error instanceof BloomRebuildError && event.error.reason === 'aborted';
        this.rebuildCounter(filter).outcomes[isStopped ? 'stopped' : 'failed']++;
      }
    }
  }

  private rebuildCounter(filter: string): RebuildCounter {
    let counter = this.rebuilds.get(filter);
    if (!counter) this.rebuilds.set(filter, (counter = new RebuildCounter()));
    return counter;
  }
}
