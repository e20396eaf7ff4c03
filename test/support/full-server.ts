import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';

export const MEBIBYTE = 1 << 20;

/** Leaves so many bytes free under `maxmemory`. */
export async function leaveFree(admin: Redis, bytes: number): Promise<void> {
  await admin.config('SET', 'maxmemory', String((await usedMemory(admin)) + bytes));
}

export async function usedMemory(admin: Redis): Promise<number> {
  const [, used] = /used_memory:(\d+)/.exec(await admin.info('memory'))!;
  return Number(used);
}

/** Another tenant of the server, who writes all along. */
export class Tenant {
  writes = 0;
  refused = 0;
  /** Longest time for which every write was refused, in milliseconds. */
  longestRefusalMs = 0;
  private ended = false;
  private running: Promise<void> | undefined;

  constructor(private readonly client: Redis) {}

  start(): this {
    this.running = this.run();
    return this;
  }

  async stop(): Promise<void> {
    this.ended = true;
    await this.running;
  }

  private async run(): Promise<void> {
    let writtenAt = performance.now();
    while (!this.ended) {
      const wasWritten = await this.client.set('tenant', 'x'.repeat(1000)).then(
        () => true,
        () => false,
      );
      this.writes++;
      if (wasWritten) writtenAt = performance.now();
      else {
        this.refused++;
        this.longestRefusalMs = Math.max(this.longestRefusalMs, performance.now() - writtenAt);
      }
      await delay(2);
    }
  }
}
