import { Random } from '../../../test/support/random.js';
import type { Action } from '../action.js';
import type { VirtualInterval, VirtualTimeout } from '../ambient.js';
import { type GatedInstance, type Held, NEVER_MS } from '../gated-instance.js';
import { remove } from '../held.js';
import type { LeasedPlan } from '../scenario.js';
import type { RawCommand } from '../server-link.js';
import { Clocks } from './clocks.js';
import { Sightings } from './sightings.js';

/** How readily an interval that is due fires, and a timer. */
const INTERVAL_WEIGHT = 0.5;
/** How readily a process hears what is new in the feed. */
const FEED_WEIGHTS = [1, 1, 0.3, 0.05];
/** A blocking read ends without entries after this time, in milliseconds. */
const BLOCKED_MS = 200;

interface TimedInterval extends VirtualInterval {
  dueAt: number;
}

/**
 * Time in a schedule where processes answer "absent" from their copies: every timer waits for its process'
 * own clock.
 */
export class LeasedTime {
  readonly chance: Random;
  readonly clocks: Clocks;
  readonly sightings = new Sightings();
  /** Moment of the schedule. */
  now = 0;
  /** Grows with everything that may have written to a feed. */
  private written = 0;
  private readonly feedWeights: readonly number[];

  constructor(
    readonly plan: LeasedPlan,
    seed: number,
    private readonly instances: readonly GatedInstance[],
    count: number,
  ) {
    const random = new Random(seed ^ 0x7f4a7c15);
    this.chance = random;
    this.clocks = new Clocks(random, count, plan.leaseMs);
    this.feedWeights = Array.from({ length: count }, () => random.choose(FEED_WEIGHTS));
  }

  nowOf(instance: GatedInstance | undefined): number {
    return instance ? this.clocks.monotonic(instance.index, this.now) : this.now;
  }

  wallOf(instance: GatedInstance | undefined): number {
    return instance ? this.clocks.wall(instance.index, this.now) : this.clocks.server(this.now);
  }

  /** In front of what is sent: the server has its time from a key. */
  tellServer(base: string): RawCommand {
    return { name: 'set', args: [`${base}:clock`, this.clocks.server(this.now)] };
  }

  isLate(): boolean {
    return this.chance.below(1_000) < 1_000 * this.plan.lateReplies;
  }

  wrote(): void {
    this.written++;
  }

  onInterval(instance: GatedInstance | undefined, callback: () => void, ms: number): VirtualInterval {
    const dueAt = this.nowOf(instance) + ms;
    const interval: TimedInterval = {
      callback,
      ms,
      dueAt,
      cleared: false,
      ref: () => interval,
      unref: () => interval,
    };
    instance?.intervals.push(interval);
    return interval;
  }

  onTimeout(instance: GatedInstance | undefined, callback: () => void, ms: number): VirtualTimeout {
    const held = this.untilPassed(instance, ms, `waited ${Math.round(ms)} ms`, callback);
    if (ms < NEVER_MS / 2) instance?.held.push(held);
    const timeout: VirtualTimeout = {
      clear: () => void (instance && remove(instance.held, held)),
      ref: () => timeout,
      unref: () => timeout,
    };
    return timeout;
  }

  /**
   * Whether so much has passed since now by the clock of a process, or, if that is enough, a staging is
   * announced.
   */
  pause(instance: GatedInstance, ms: number, untilAnnounced = false): () => boolean {
    const until = this.nowOf(instance) + ms;
    const isAnnounced = () => untilAnnounced && this.sightings.announcer !== undefined;
    return () => this.nowOf(instance) >= until || isAnnounced();
  }

  private untilPassed(instance: GatedInstance | undefined, ms: number, what: string, go: () => void): Held {
    const dueAt = this.nowOf(instance) + ms;
    return { what, weight: 1, dueAt, isDue: () => this.nowOf(instance) >= dueAt, go };
  }

  /** A blocking read is answered when there may be something new, or its time is over. */
  heldFeedRead(instance: GatedInstance): Pick<Held, 'weight' | 'isDue' | 'isOfFeed'> {
    const { written, now } = this;
    return {
      isOfFeed: true,
      weight: this.feedWeights[instance.index]!,
      isDue: () => this.written !== written || this.now >= now + BLOCKED_MS,
    };
  }

  feedWeightOf({ index }: GatedInstance): number {
    return this.feedWeights[index]!;
  }

  intervalActions(instance: GatedInstance, fire: (interval: VirtualInterval) => Action['step']): Action[] {
    return instance.intervals.flatMap((interval, place) => {
      if (interval.cleared || !isTimed(interval) || this.nowOf(instance) < interval.dueAt) return [];
      const weight = INTERVAL_WEIGHT * instance.weight;
      const step = () => {
        interval.dueAt = this.nowOf(instance) + interval.ms;
        return fire(interval)();
      };
      return [
        {
          label: `${instance.name} timer ${place}`,
          weight,
          isWork: false,
          step,
        },
      ];
    });
  }

  /** How time may pass beside the millisecond of each step. */
  leaps(leap: (ms: number) => Action['step']): Action[] {
    const { leaseMs } = this.plan;
    const actions: Action[] = [
      { label: 'time some', weight: 0.05, isWork: false, step: leap(leaseMs / 6) },
      { label: 'time lease', weight: 0.01, isWork: false, step: leap(leaseMs * 1.1) },
    ];
    const next = this.untilNextTimer();
    if (next !== undefined)
      actions.push({ label: 'time next', weight: 0.1, isWork: false, step: leap(next) });
    return actions;
  }

  /** Milliseconds until a timer of a process is due that is not due yet. */
  private untilNextTimer(): number | undefined {
    let least: number | undefined;
    for (const instance of this.instances) {
      if (!instance.isAlive) continue;
      const now = this.nowOf(instance);
      const timers = [
        ...instance.held,
        ...instance.intervals.filter(({ cleared }) => !cleared).filter(isTimed),
      ];
      for (const { dueAt } of timers) {
        if (dueAt === undefined || dueAt <= now || dueAt > now + NEVER_MS / 10) continue;
        const ms = this.clocks.untilShows(instance.index, dueAt - now);
        least = Math.min(least ?? Infinity, ms);
      }
    }
    return least;
  }
}

function isTimed(interval: VirtualInterval): interval is TimedInterval {
  return 'dueAt' in interval;
}
