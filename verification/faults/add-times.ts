import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { BloomUnavailableError } from 'nestjs-bloom';
import { WRITE_TIMEOUT_MS } from './timings.js';

/** What an add may take beyond a lease: much less than another one. */
const MARGIN_MS = 2 * WRITE_TIMEOUT_MS;
/** Commands of an add that follow each other. */
const TRIPS = 3;

/** Adds one after the other: no reader may hold one up for longer than its lease. */
export class AddTimes {
  private readonly ms: number[] = [];
  private longestLate = 0;

  /** @param redis a connection of the same process to the same server */
  constructor(
    private readonly redis: Redis,
    private readonly leaseMs: number,
  ) {}

  /**
   * Whether the add was acknowledged. One that could not be recorded in time is rejected, and promises
   * nothing.
   */
  async time(add: () => Promise<unknown>): Promise<boolean> {
    const from = performance.now();
    const ended = new AbortController();
    let isLate = false;
    const limit = this.limit(ended.signal).then(
      () => (isLate = true),
      () => {},
    );
    const isAcknowledged = await add().then(
      () => true,
      (error: unknown) => {
        if (error instanceof BloomUnavailableError) return false;
        throw error;
      },
    );
    const ms = performance.now() - from;
    ended.abort();
    await limit;
    this.ms.push(ms);
    if (isLate || ms >= 2 * this.leaseMs) this.longestLate = Math.max(this.longestLate, ms);
    return isAcknowledged;
  }

  /** @throws when an add waited for more than a lease, or took as long as two. */
  judge(remark: (text: string) => void): void {
    const { leaseMs } = this;
    const longest = Math.max(...this.ms).toFixed(0);
    const waited = this.ms.filter((ms) => ms > leaseMs / 2).length;
    remark(
      `of ${this.ms.length} adds, ${waited} took longer than half a lease, the longest ${longest} ms, of leases of ${leaseMs} ms`,
    );
    if (this.longestLate > 0) throw new Error(`An add took ${this.longestLate.toFixed(0)} ms.`);
  }

  /**
   * Takes as long as an add may, by the timers and the round trips of this process: what delays those on a
   * busy machine delays adds as well.
   */
  private async limit(signal: AbortSignal): Promise<void> {
    await delay(this.leaseMs, undefined, { signal });
    for (let i = 0; i < TRIPS; i++) await this.redis.ping();
    await delay(MARGIN_MS, undefined, { signal });
  }
}
