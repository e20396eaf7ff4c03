import { setTimeout as delay } from 'node:timers/promises';
import type { BloomId, BloomIdSource } from 'nestjs-bloom';
import { COMMIT_MS, SCAN_MS } from './timings.js';

export class DatabaseDownError extends Error {}

export interface Row {
  readonly id: string;
}

type Reading = (ids: readonly string[], signal: AbortSignal) => AsyncIterable<BloomId | readonly BloomId[]>;

const BATCHES = 5;

/**
 * The database of the shop: rows become visible some time after they were written, and a scan sees what was
 * visible at its start.
 */
export class ShopDatabase implements BloomIdSource {
  isDown = false;
  /** How often it was asked for all ids. */
  scans = 0;
  /** How a rebuild reads the rows that are visible when it begins: a fault puts another one in its place. */
  reading: Reading = readInBatches;

  /** How long the commit of a row takes whose id is in here, in place of the usual time. */
  readonly commitMs = new Map<string, number>();

  protected readonly rows = new Set<string>();

  constructor(ids: readonly string[]) {
    for (const id of ids) this.rows.add(id);
  }

  find(id: string): Row | undefined {
    this.assertUp();
    return this.rows.has(id) ? { id } : undefined;
  }

  async insert(id: string): Promise<void> {
    this.assertUp();
    await delay(this.commitMs.get(id) ?? Math.random() * COMMIT_MS);
    this.rows.add(id);
  }

  visibleIds(): string[] {
    this.assertUp();
    return [...this.rows];
  }

  async *ids({ signal }: { signal: AbortSignal }): AsyncIterable<BloomId | readonly BloomId[]> {
    this.scans++;
    yield* this.reading(this.visibleIds(), signal);
  }

  private assertUp(): void {
    if (this.isDown) throw new DatabaseDownError('The database is down.');
  }
}

export async function* readInBatches(ids: readonly string[]): AsyncIterable<readonly string[]> {
  const size = Math.ceil(ids.length / BATCHES);
  for (let at = 0; at < ids.length; at += size) {
    yield ids.slice(at, at + size);
    await delay(SCAN_MS / BATCHES);
  }
}
