import { type Clock, jittered } from '../../common/index.js';
import {
  type BuildOccasion,
  type BuildOutcome,
  FIRST_BUILD_PAUSE_MS,
  LAST_BUILD_PAUSE_MS,
} from '../index.js';

/** When the builds of a filter began, how they ended, and when the next one is due. */
export class BuildFacts {
  private began = -Infinity;
  private occasion: BuildOccasion['kind'] | undefined;
  private live = -Infinity;
  private failures = 0;
  private due = -Infinity;

  constructor(private readonly clock: Clock) {}

  /** Time until a build is due, in milliseconds; 0 for now. */
  dueInMs(occasion: BuildOccasion): number {
    const now = this.clock.now();
    switch (occasion.kind) {
      case 'manual':
        return 0;
      case 'recovery':
        return Math.max(0, this.due - now);
      case 'scheduled':
        return Math.max(0, this.lastFor(occasion) + occasion.withinMs - now);
      case 'overfull':
        return Math.max(0, this.lastFor(occasion) + occasion.withinMs - now, this.due - now);
    }
  }

  private lastFor({ kind }: BuildOccasion): number {
    return Math.max(this.live, this.occasion === kind ? this.began : -Infinity);
  }

  begin({ kind }: BuildOccasion): void {
    this.began = this.clock.now();
    this.occasion = kind;
  }

  /** @param outcome undefined: the build did not take place. */
  end(outcome: BuildOutcome | undefined): void {
    switch (outcome?.kind) {
      case 'published':
        this.live = this.began;
        this.failures = 0;
        this.due = -Infinity;
        break;
      case 'failed': {
        const pauseMs = Math.min(LAST_BUILD_PAUSE_MS, FIRST_BUILD_PAUSE_MS * 2 ** this.failures++);
        this.due = this.clock.now() + Math.max(jittered(pauseMs), outcome.retryAfterMs ?? 0);
        break;
      }
      default:
        this.began = -Infinity;
    }
  }
}
