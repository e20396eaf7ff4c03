import { type BloomEventListener, BloomRebuildError } from 'nestjs-bloom/store';
import { BLOCK_BYTES } from 'nestjs-bloom/filter';
import {
  explainNoMemory,
  type RedisConnection,
  type RebuildLock,
  removeKeys,
  type SegmentedGeneration,
  segmentKeys,
  SegmentWriter,
  StagingMemory,
} from 'nestjs-bloom/internal';
import { grownGeneration, type ResolvedGrowing } from './resolved-growing.js';
import type { GrowingKeys } from './growing-keys.js';
import type { GrowingScripts } from './growing-scripts.js';

/** Long enough for a layer of gigabytes; a process that dies meanwhile holds the others up for this long. */
const LEASE_MS = 30_000;
/** The segments must not expire under a caller that still holds the lease. */
const LAYER_LIFE_MS = 2 * LEASE_MS;
/** Between two looks at whether another process has opened a layer. */
const PAUSE_MS = 25;
/** Between two attempts that fail. */
const ERROR_PAUSE_MS = 1000;
/**
 * After one for which the server has no memory: a few hundred segments are not written and removed again
 * every second.
 */
const NO_MEMORY_PAUSE_MS = 30_000;

export interface LayerOpenerOptions {
  readonly name: string;
  readonly emit: BloomEventListener;
  readonly keys: GrowingKeys;
  readonly connection: RedisConnection;
  readonly lock: RebuildLock;
  readonly growing: GrowingScripts;
  /** Ids that all layers together may be for. */
  readonly maxCapacity: number;
}

/** Opens further layers, in one process at a time. */
export class LayerOpener {
  private opening: Promise<void> | undefined;
  private notBefore = 0;
  /** The last one that was worked out, and from what: planning a layer takes milliseconds. */
  private next: { readonly from: string; readonly grown: ResolvedGrowing | undefined } | undefined;

  constructor(private readonly options: LayerOpenerOptions) {}

  /** Whether there is a further layer for a generation to have. */
  canGrow(resolved: ResolvedGrowing): boolean {
    return this.grown(resolved) !== undefined;
  }

  /** Starts opening one beside what goes on, unless that was tried just now. */
  start(resolved: ResolvedGrowing): void {
    if (performance.now() >= this.notBefore && this.canGrow(resolved)) void this.open(resolved);
  }

  /**
   * Resolves when a layer was opened, or a pause has passed after which it may have been by another process.
   * Never rejects.
   */
  async open(resolved: ResolvedGrowing): Promise<void> {
    this.opening ??= this.tryToOpen(resolved).finally(() => (this.opening = undefined));
    await this.opening;
  }

  /** Waits for what is under way. */
  async settle(): Promise<void> {
    await this.opening;
  }

  private async tryToOpen(resolved: ResolvedGrowing): Promise<void> {
    const { name, emit } = this.options;
    if (performance.now() >= this.notBefore) {
      try {
        if (await this.openUnderLease(resolved)) return;
        this.notBefore = performance.now() + PAUSE_MS;
      } catch (error) {
        emit({ type: 'store-error', filter: name, operation: 'open a layer', error });
        const isShort = error instanceof BloomRebuildError && error.reason === 'no-memory';
        this.notBefore = performance.now() + (isShort ? NO_MEMORY_PAUSE_MS : ERROR_PAUSE_MS);
      }
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }

  private async openUnderLease(resolved: ResolvedGrowing): Promise<boolean> {
    const { keys, lock, connection, growing } = this.options;
    const grown = this.grown(resolved);
    const held = grown && (await lock.take({ leaseMs: LEASE_MS }));
    if (!held) return false;
    try {
      const { lease } = held;
      const target = grown.layers.at(-1)!;
      const writer = new SegmentWriter({
        connection,
        keys,
        lease,
        target,
        lifeMs: LAYER_LIFE_MS,
      });
      await this.write(writer, target);
      // Refused: the layer is not needed any more, and expires.
      await growing.grow(grown, { lease, before: resolved.generation.token });
      return true;
    } finally {
      await lock.giveBack(held);
    }
  }

  /**
   * What fails is not left to the memory of others. Past this a layer may be live though no reply says so.
   */
  private async write(writer: SegmentWriter, target: SegmentedGeneration): Promise<void> {
    const { name, emit, keys, connection } = this.options;
    const memory = new StagingMemory({ name, emit, keys, connection, onShort: () => {} });
    await memory.claim(target.generation.blocks * BLOCK_BYTES);
    try {
      await explainNoMemory(writer.writeEmpty(AbortSignal.timeout(LEASE_MS)));
    } catch (error) {
      await removeKeys(connection, segmentKeys([target])).catch((failure: unknown) =>
        emit({ type: 'clean-up-failed', filter: name, error: failure }),
      );
      throw error;
    }
  }

  private grown(resolved: ResolvedGrowing): ResolvedGrowing | undefined {
    const from = resolved.generation.token;
    const { keys, maxCapacity } = this.options;
    if (this.next?.from !== from) this.next = { from, grown: grownGeneration(keys, resolved, maxCapacity) };
    return this.next.grown;
  }
}
