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
  /** Copies that answer nothing, by their owner: their bytes, and what drops them. */
  private readonly spare = new Map<object, { readonly bytes: number; readonly drop: () => void }>();

  constructor(readonly limits: CopyLimits = { bytesPerSecond: Infinity, maxBytes: Infinity }) {}

  /** Takes memory for a copy; false when there is no room. */
  claim(bytes: number): boolean {
    let missing = this.held + bytes - this.limits.maxBytes;
    const dropped: (() => void)[] = [];
    for (const one of this.spare.values()) {
      if (missing <= 0) break;
      missing -= one.bytes;
      dropped.push(one.drop);
    }
    // Spare copies would be dropped for nothing.
    if (missing > 0) return false;
    for (const drop of dropped) drop();
    this.held += bytes;
    return true;
  }

  release(bytes: number): void {
    this.held -= bytes;
  }

  /** Says that bytes of this owner are spare: `drop` releases them, and is called when others need them. */
  spareIs(owner: object, bytes: number, drop: () => void): void {
    this.spare.set(owner, { bytes, drop });
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
