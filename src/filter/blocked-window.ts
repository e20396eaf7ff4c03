import type { BlockedLayout } from './blocked-layout.js';
import { layoutOf } from './exact-layout.js';
import { RegionFilter } from './region-filter.js';
import type { Generation } from './generation.js';
import { type IdKey, tooLong } from './id.js';
import { BLOCK_BYTES } from './sizing.js';

/**
 * Some blocks of a generation, one after the other, in the memory of this process: what one of several passes
 * over the ids fills.
 */
export class BlockedWindow {
  /** Whether the id that came last is of a block outside, and was left out. */
  isElsewhere = false;

  private readonly layout: BlockedLayout;
  private readonly memory: Uint8Array;
  private first = 0;
  private blocks = 0;

  /** @param mostBlocks the largest window that it is moved to. */
  constructor(
    private readonly generation: Generation,
    mostBlocks: number,
  ) {
    this.layout = layoutOf(generation);
    this.memory = new Uint8Array(mostBlocks * BLOCK_BYTES);
  }

  /** The blocks of the window. */
  get bytes(): Uint8Array {
    return this.memory.subarray(0, this.blocks * BLOCK_BYTES);
  }

  /** Empties it, in the same memory, for the blocks from this one on. */
  moveTo(first: number, blocks: number): void {
    this.first = first;
    this.blocks = blocks;
    const { bytes } = this;
    bytes.fill(0);
    const view = new DataView(bytes.buffer);
    for (let at = 0; at < bytes.length; at += BLOCK_BYTES) view.setUint32(at, this.generation.tag, true);
  }

  /**
   * True when the id is of a block of the window, and was not there before.
   *
   * @throws {BloomIdError} for an id that is longer than `maxIdBytes`.
   */
  addKey(id: IdKey): boolean {
    if (!this.layout.locate(id)) throw tooLong(this.generation.maxIdBytes);
    return this.insert();
  }

  /** As `addKey` for the id of the bytes from `start` to `end`: text in UTF-8, or bytes. */
  addBytes(bytes: Uint8Array, start: number, end: number): boolean {
    if (end - start > this.generation.maxIdBytes) throw tooLong(this.generation.maxIdBytes);
    this.layout.locateBytes(bytes, start, end);
    return this.insert();
  }

  /**
   * Adds many ids, region by region, while the window stays where it is; undefined where that would gain
   * nothing.
   *
   * @param filters how many filters are filled in turn, and share the memory for ids that wait.
   */
  deferred(filters = 1): RegionFilter | undefined {
    return RegionFilter.of(this.generation, this.bytes, this.first, filters);
  }

  private insert(): boolean {
    const { layout } = this;
    const block = layout.block - this.first;
    this.isElsewhere = block < 0 || block >= this.blocks;
    return !this.isElsewhere && layout.insert(this.memory, block * BLOCK_BYTES, layout.seed);
  }
}
