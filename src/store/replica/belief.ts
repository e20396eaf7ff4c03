import type { Clock } from '../../common/index.js';

/** Share of a lease for which its reader believes in it: the rest is for clocks that run apart. */
const BELIEVED_SHARE = 0.75;

/** A moment by both clocks of this process. */
export interface Moment {
  readonly now: number;
  readonly wall: number;
}

/**
 * Until when a lease is believed in, by the clocks of this process, and counted from before it was asked for. The monotonic clock may stand still while the machine is
 * suspended, and the wall clock may be set: each of them can end it.
 */
export class Belief {
  private until = -Infinity;
  private wallSince = 0;
  private wallUntil = 0;

  /** For how long it is believed in by either clock. */
  private readonly ms: number;

  constructor(
    private readonly clock: Pick<Clock, 'now' | 'wall'>,
    leaseMs: number,
  ) {
    this.ms = BELIEVED_SHARE * leaseMs;
  }

  get isHeld(): boolean {
    if (this.clock.now() >= this.until) return false;
    const wall = this.clock.wall();
    return wall < this.wallUntil && wall >= this.wallSince;
  }

  moment(): Moment {
    return { now: this.clock.now(), wall: this.clock.wall() };
  }

  /** Believes in a lease that was granted to a question of this moment. */
  begin({ now, wall }: Moment): void {
    this.until = now + this.ms;
    this.wallUntil = wall + this.ms;
    this.wallSince = wall;
  }

  end(): void {
    this.until = -Infinity;
  }
}
