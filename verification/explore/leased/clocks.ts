import type { Random } from '../../../test/support/random.js';

/** Clocks run fast or slow by at most this share. */
const DRIFT = 0.04;
/** Server and wall clocks count from 1970. */
const WALL_START_MS = 1_700_000_000_000;

interface ProcessClock {
  readonly rate: number;
  readonly wallRate: number;
  readonly startsAt: number;
  /** For how long its monotonic clock has stood still. */
  stood: number;
  /** By how much its wall clock was set. */
  wallSet: number;
}

/**
 * The clocks of one schedule, which run apart. Each tells the time of a moment of the schedule, in
 * milliseconds.
 */
export class Clocks {
  private readonly processes: readonly ProcessClock[];
  private readonly serverRate: number;
  private serverSet = 0;

  constructor(
    random: Random,
    processes: number,
    private readonly leaseMs: number,
  ) {
    const rate = () => 1 - DRIFT + (2 * DRIFT * random.below(101)) / 100;
    this.serverRate = rate();
    this.processes = Array.from({ length: processes }, () => ({
      rate: rate(),
      wallRate: rate(),
      startsAt: random.below(100_000),
      stood: 0,
      wallSet: random.below(10_000),
    }));
  }

  monotonic(process: number, now: number): number {
    const { startsAt, rate, stood } = this.processes[process]!;
    return startsAt + rate * now - stood;
  }

  wall(process: number, now: number): number {
    const { wallRate, wallSet } = this.processes[process]!;
    return Math.floor(WALL_START_MS + wallRate * now + wallSet);
  }

  server(now: number): number {
    return Math.floor(WALL_START_MS + this.serverRate * now + this.serverSet);
  }

  /** How long it takes until the clock of a process shows so much more. */
  untilShows(process: number, ms: number): number {
    return ms / this.processes[process]!.rate;
  }

  /** The machine of a process is suspended: its monotonic clock does not count the time. */
  standStill(process: number, ms: number): void {
    const clock = this.processes[process]!;
    clock.stood += clock.rate * ms;
  }

  setWall(process: number, byMs: number): void {
    this.processes[process]!.wallSet += byMs;
  }

  /**
   * Sets the clock of the server forward, by what readers with fast and slow clocks leave of a quarter of a
   * lease.
   */
  setServerForward(): void {
    this.serverSet += 0.15 * this.leaseMs;
  }

  setServerBack(): void {
    this.serverSet -= 0.5 * this.leaseMs;
  }
}
