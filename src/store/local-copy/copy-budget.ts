/** What the copies of one process may take together. */
export interface CopyLimits {
  /** Bytes of Redis that are read in a second to load copies. */
  readonly bytesPerSecond: number;
  /** Bytes of memory that copies hold; a filter for which there is no room has none. */
  readonly maxBytes: number;
}

/** A shorter wait is saved up: no timer can measure it. */
const SHORTEST_WAIT_MS = 2;

/**
 * Paces the loading of all copies of a process. After a swap or a deployment every instance loads the same
 * copies: loads begin at random, within a time that grows with the size, run one after the other, and no
 * faster than the limit.
 */
export class CopyBudget {
  private held = 0;
  private last = Promise.resolve();
  /** When what was read so far is paid for. */
  private paidAt = -Infinity;
  private hasRefused = false;
  /** Copies that answer nothing, by their owner, and what drops them. */
  private readonly spare = new Map<object, () => void>();

  constructor(readonly limits: CopyLimits = { bytesPerSecond: Infinity, maxBytes: Infinity }) {}

  /** Takes memory for a copy; false when there is no room. */
  claim(bytes: number): boolean {
    for (const [owner, drop] of this.spare) {
      if (this.held + bytes <= this.limits.maxBytes) break;
      this.spare.delete(owner);
      drop();
    }
    if (this.held + bytes > this.limits.maxBytes) return false;
    this.held += bytes;
    return true;
  }

  release(bytes: number): void {
    this.held -= bytes;
  }

  /** Says that memory of this owner is spare: `drop`, which releases it, is called when others need it. */
  spareIs(owner: object, drop: () => void): void {
    this.spare.set(owner, drop);
  }

  /** The owner has no spare memory any more. */
  noSpare(owner: object): void {
    this.spare.delete(owner);
  }

  /** True for the first filter that finds no room. */
  isFirstRefusal(): boolean {
    const isFirst = !this.hasRefused;
    this.hasRefused = true;
    return isFirst;
  }

  /** Runs a load of so many bytes when its time has come and those before it have ended. */
  async inTurn(bytes: number, load: () => Promise<void>): Promise<void> {
    await wait(Math.random() * this.costMs(bytes));
    const before = this.last;
    let end = () => {};
    this.last = new Promise((resolve) => (end = resolve));
    await before;
    try {
      await load();
    } finally {
      end();
    }
  }

  /** Waits until so many bytes more have been paid for. */
  async pay(bytes: number): Promise<void> {
    const now = performance.now();
    this.paidAt = Math.max(now, this.paidAt) + this.costMs(bytes);
    await wait(this.paidAt - now);
  }

  private costMs(bytes: number): number {
    return (bytes / this.limits.bytesPerSecond) * 1000;
  }
}

/** Keeps no process from ending. */
async function wait(ms: number): Promise<void> {
  if (ms < SHORTEST_WAIT_MS) return;
  await new Promise<void>((resolve) => setTimeout(resolve, ms).unref());
}
