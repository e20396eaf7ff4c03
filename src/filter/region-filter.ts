import { BlockedLayout } from './blocked-layout.js';
import type { Generation } from './generation.js';
import { type IdKey, tooLong } from './id.js';
import { type IdRun, MOST_OF_REGION, REGION_BLOCKS, regionsModule } from './regions-module.js';
import { BLOCK_BYTES } from './sizing.js';

const REGION_SHIFT = Math.log2(REGION_BLOCKS);
const REGION_BYTES = REGION_BLOCKS * BLOCK_BYTES;
/** A filter of fewer blocks is in the cache as a whole. */
const LEAST_BLOCKS = 4 * REGION_BLOCKS;
/** Ids that wait at most, eight bytes each, in all filters that are filled together. */
const MOST_WAITING = 1 << 20;
/** From so many ids of a region on it is faster to copy it to the WebAssembly and back. */
const LEAST_FOR_MODULE = 1024;

/**
 * Adds many ids to blocks in memory, region by region: an id waits until many of its region are there. One
 * after the other, nearly each id of a large filter would wait for memory that is not in the caches of the
 * processor. An id that was added is in the blocks when `settleRegion` returns false.
 */
export class RegionFilter {
  /** Whether the id that came last is of a block outside, and was left out. */
  isElsewhere = false;
  /** Ids of the last run that are not of a block outside. */
  takenOfRun = 0;

  private readonly module = regionsModule();
  private readonly layout: BlockedLayout;
  private readonly blocks: number;
  /** For each region room for the block and the seed of as many ids. */
  private readonly waiting: Int32Array;
  private readonly counts: Int32Array;
  private readonly room: number;
  private newIds = 0;
  private settled = 0;

  /**
   * Undefined where nothing would be gained, as for few blocks of all filters that are filled together.
   *
   * @param filters how many filters of this size are filled in turn, and share the memory for ids that wait.
   */
  static of(
    generation: Generation,
    bytes: Uint8Array,
    first: number,
    filters: number,
  ): RegionFilter | undefined {
    // Integers of a range come in their order, so that their blocks are in the caches anyway.
    if (generation.range || bytes.length * filters < LEAST_BLOCKS * BLOCK_BYTES) return undefined;
    return new RegionFilter(generation, bytes, first, Math.floor(MOST_WAITING / filters));
  }

  private constructor(
    readonly generation: Generation,
    private readonly bytes: Uint8Array,
    private readonly first: number,
    mostWaiting: number,
  ) {
    this.layout = new BlockedLayout(generation);
    this.blocks = bytes.length / BLOCK_BYTES;
    const regions = Math.ceil(this.blocks / REGION_BLOCKS);
    this.room = Math.max(1, Math.min(MOST_OF_REGION, Math.floor(mostWaiting / regions)));
    this.waiting = new Int32Array(2 * this.room * regions);
    this.counts = new Int32Array(regions);
  }

  /**
   * False: whether the id is new is counted by `takeNew`.
   *
   * @throws {BloomIdError} for an id that is longer than `maxIdBytes`.
   */
  addKey(id: IdKey): false {
    if (!this.layout.locate(id)) throw tooLong(this.generation.maxIdBytes);
    this.defer(this.layout.block, this.layout.seed);
    return false;
  }

  /** As `addKey` for the id of the bytes from `start` to `end`: text in UTF-8, or bytes. */
  addBytes(bytes: Uint8Array, start: number, end: number): false {
    if (end - start > this.generation.maxIdBytes) throw tooLong(this.generation.maxIdBytes);
    this.layout.locateBytes(bytes, start, end);
    this.defer(this.layout.block, this.layout.seed);
    return false;
  }

  /**
   * As `addBytes` for the ids from `from` to below `to`; how many it has added, which may be fewer. It is 0
   * when the next one has to be added by `addBytes`, and for one that cannot be added.
   */
  addRun(ids: IdRun, from: number, to: number): number {
    const { module, first, blocks, waiting, counts, room } = this;
    this.takenOfRun = 0;
    if (!module) return 0;
    const count = module.locate(ids, from, to, this.generation);
    const { located } = module;
    let taken = 0;
    // As `defer`, whose fields would be written for each id.
    for (let i = 0; i < 2 * count; i += 2) {
      const block = located[i]! - first;
      if (block < 0 || block >= blocks) continue;
      taken++;
      const region = block >>> REGION_SHIFT;
      const waits = counts[region]!;
      const at = 2 * (region * room + waits);
      waiting[at] = block;
      waiting[at + 1] = located[i + 1]!;
      counts[region] = waits + 1;
      if (waits + 1 === room) this.setBits(region);
    }
    this.takenOfRun = taken;
    return count;
  }

  /** Ids that have turned out to be new since the last call. */
  takeNew(): number {
    const { newIds } = this;
    this.newIds = 0;
    return newIds;
  }

  /** Sets the bits of the ids of one region; false when no id waits any more. */
  settleRegion(): boolean {
    const { counts } = this;
    while (this.settled < counts.length && counts[this.settled] === 0) this.settled++;
    if (this.settled === counts.length) {
      this.settled = 0;
      return false;
    }
    this.setBits(this.settled);
    return true;
  }

  /** Adds the id of this block and seed of the generation. */
  defer(blockOfAll: number, seed: number): void {
    const { waiting, counts, room } = this;
    const block = blockOfAll - this.first;
    this.isElsewhere = block < 0 || block >= this.blocks;
    if (this.isElsewhere) return;
    const region = block >>> REGION_SHIFT;
    const count = counts[region]!;
    const at = 2 * (region * room + count);
    waiting[at] = block;
    waiting[at + 1] = seed;
    counts[region] = count + 1;
    if (count + 1 === room) this.setBits(region);
  }

  private setBits(region: number): void {
    const { layout, bytes, waiting, counts, room, module } = this;
    const count = counts[region]!;
    const from = 2 * region * room;
    const to = from + 2 * count;
    counts[region] = 0;
    if (module && count >= LEAST_FOR_MODULE) {
      const start = region * REGION_BYTES;
      const { hashCount } = this.generation;
      this.newIds += module.setBits(
        bytes.subarray(start, start + REGION_BYTES),
        waiting.subarray(from, to),
        hashCount,
      );
      return;
    }
    let newIds = 0;
    for (let at = from; at < to; at += 2)
      if (layout.insert(bytes, waiting[at]! * BLOCK_BYTES, waiting[at + 1]!)) newIds++;
    this.newIds += newIds;
  }
}
