import type { BlockedLayout } from './blocked-layout.js';
import { layoutOf } from './exact-layout.js';
import { RegionFilter } from './region-filter.js';
import type { Generation } from './generation.js';
import { type BloomId, type IdKey, toIdKey, tooLong } from './id.js';
import { BLOCK_BYTES } from './sizing.js';

/** A generation and its bits in the memory of this process. */
export class BlockedFilter {
  /** Where the bits of an id are. */
  readonly layout: BlockedLayout;
  /** All blocks, one after the other. */
  readonly bytes: Uint8Array;

  constructor(generation: Generation);
  /**
   * @param isTagged false where the blocks get their tags with their bits: to write one into each takes 15 ms
   * for 25 MiB, in one turn.
   * @internal
   */
  constructor(generation: Generation, isTagged: boolean);
  constructor(
    /** Its key, size and layout. */
    readonly generation: Generation,
    isTagged = true,
  ) {
    this.layout = layoutOf(generation);
    this.bytes = new Uint8Array(generation.blocks * BLOCK_BYTES);
    if (!isTagged) return;
    const view = new DataView(this.bytes.buffer);
    for (let at = 0; at < this.bytes.length; at += BLOCK_BYTES) view.setUint32(at, generation.tag, true);
  }

  /**
   * Adds an id; true when it was not there before.
   *
   * @throws {BloomIdError} when the value is not an id, or is longer than `maxIdBytes`.
   */
  add(id: BloomId): boolean {
    return this.addKey(toIdKey(id));
  }

  /** False: the id was never added. True: it was, or the error rate struck. */
  mightContain(id: BloomId): boolean {
    return this.mightContainKey(toIdKey(id));
  }

  /** As `add`. */
  addKey(id: IdKey): boolean {
    const { layout } = this;
    if (!layout.locate(id)) throw tooLong(this.generation.maxIdBytes);
    return layout.insert(this.bytes, layout.block * BLOCK_BYTES, layout.seed);
  }

  /** True when the id was there, and is not any more. False for an id that shares its bits with others. */
  removeKey(id: IdKey): boolean {
    const { layout, bytes } = this;
    if (!layout.locate(id) || !layout.isOwnBit) return false;
    const offset = layout.block * BLOCK_BYTES;
    if (!layout.contains(bytes, offset, layout.seed)) return false;
    for (const bit of layout.positions(layout.seed)) bytes[offset + (bit >>> 3)]! &= ~(1 << (bit & 7));
    return true;
  }

  /** As `addKey` for the id of the bytes from `start` to `end`: text in UTF-8, or bytes. */
  addBytes(bytes: Uint8Array, start: number, end: number): boolean {
    const { layout } = this;
    if (end - start > this.generation.maxIdBytes) throw tooLong(this.generation.maxIdBytes);
    layout.locateBytes(bytes, start, end);
    return layout.insert(this.bytes, layout.block * BLOCK_BYTES, layout.seed);
  }

  /**
   * Adds many ids region by region; undefined where that would gain nothing.
   *
   * @param filters how many filters are filled in turn, and share the memory for ids that wait.
   * @internal
   */
  deferred(filters = 1): RegionFilter | undefined {
    return RegionFilter.of(this.generation, this.bytes, 0, filters);
  }

  /** As `mightContain`. */
  mightContainKey(id: IdKey): boolean {
    const { layout } = this;
    return layout.locate(id) && layout.contains(this.bytes, layout.block * BLOCK_BYTES, layout.seed);
  }
}
