import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { BloomUnavailableError } from 'nestjs-bloom';
import { COPY_LEASE_MS, WRITE_TIMEOUT_MS } from './timings.js';

/** What an add may take beyond a lease. */
const MARGIN_MS = 2 * WRITE_TIMEOUT_MS;
/** Commands of an add that follow each other. */
const TRIPS = 3;

/** Adds one after the other: no reader may hold one up for longer than its lease. */
export class AddTimes {
  private readonly ms: number[] = [];
  private longestLate = 0;

  /** @param redis a connection of the same process to the same server */
  constructor(private readonly redis: Redis) {}

  get length(): number {
    return this.ms.length;
  }

  /** Whether the add was acknowledged. One that could not be recorded in time is rejected, and promises nothing. */
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
    if (isLate) this.longestLate = Math.max(this.longestLate, ms);
    return isAcknowledged;
  }

  /** @throws when an add waited for more than a lease. */
  judge(remark: (text: string) => void): void {
    const longest = Math.max(...this.ms).toFixed(0);
    const waited = this.ms.filter((ms) => ms > COPY_LEASE_MS / 2).length;
    remark(
      `of ${this.ms.length} adds, ${waited} took longer than half a lease, the longest ${longest} ms of ${COPY_LEASE_MS}`,
    );
    if (this.longestLate > 0) throw new Error(`An add took ${this.longestLate.toFixed(0)} ms.`);
  }

  /** Takes as long as an add may, by the timers and the round trips of this process: what delays those on a busy machine delays adds as well. */
  private async limit(signal: AbortSignal): Promise<void> {
    await delay(COPY_LEASE_MS, undefined, { signal });
    for (let i = 0; i < TRIPS; i++) await this.redis.ping();
    await delay(MARGIN_MS, undefined, { signal });
  }
}
