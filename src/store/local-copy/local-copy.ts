import type { Clock } from '../../common/index.js';
import {
  BLOCK_BYTES,
  BlockedFilter,
  type Generation,
  type IdKey,
  measuredFillOf,
} from '../../filter/index.js';
import { type CopyableFilter, type CoveredIds, GROUP_BLOCKS, type KnownVerdict } from '../index.js';
import type { CopyBudget } from './copy-budget.js';

/**
 * What one command of a load moves: no lookup waits long behind it. With its head the reply fits into the 64
 * KiB that Node reads at once from a socket. The client copies a larger reply into memory of its own, which
 * becomes garbage.
 */
const PIECE_BLOCKS = 241;
/** Share of a lease for which it proves a copy: the rest is for clocks that run apart. */
const PROVEN_SHARE = 0.75;

/** Share of absent ids that pass, from which on a copy is of no use any more. */
const CROWDED_RATE = 0.05;

/** Memory that all copies share, for the words of the piece that was read last. */
let aligned = new Uint32Array(BLOCK_BYTES / 4);

/** A moment by both clocks of this process. */
export interface Moment {
  readonly now: number;
  readonly wall: number;
}

/**
 * Until when a lease proves that what its copy lacks is absent, counted from before it was asked for. The
 * monotonic clock may stand still while the machine is suspended, and the wall clock may be set: each of them
 * can end it.
 */
export class Proof {
  private until = -Infinity;
  private wallSince = 0;
  private wallUntil = 0;
  private readonly ms: number;

  constructor(
    private readonly clock: Pick<Clock, 'now' | 'wall'>,
    leaseMs: number,
  ) {
    this.ms = PROVEN_SHARE * leaseMs;
  }

  get holds(): boolean {
    if (this.clock.now() >= this.until) return false;
    const wall = this.clock.wall();
    return wall < this.wallUntil && wall >= this.wallSince;
  }

  moment(): Moment {
    return { now: this.clock.now(), wall: this.clock.wall() };
  }

  /** Holds by a lease that was granted to a question of this moment. */
  begin({ now, wall }: Moment): void {
    this.until = now + this.ms;
    this.wallUntil = wall + this.ms;
    this.wallSince = wall;
  }

  end(): void {
    this.until = -Infinity;
  }
}

/** Blocks of one generation in the memory of this process. It may lack what others have added since. */
export class LocalCopy {
  /** Before that it must not answer: it would send almost every id to the store. */
  isWhole = false;
  /** The proof of its lease; undefined without one: the store has to confirm whatever is absent. */
  proof: Proof | undefined;
  /** The ids of which it has each that any live generation has; undefined for none. */
  covers: CoveredIds | undefined;

  /** Its "maybe" is final. An absent id has to be confirmed, by the store or by `isSureOf`. */
  readonly filter: BlockedFilter;

  /** @param keepsBits whether bits stay that it was given: blocks that are read may be older. */
  constructor(
    readonly generation: Generation,
    private readonly keepsBits = false,
  ) {
    this.filter = new BlockedFilter(generation, false);
  }

  get byteLength(): number {
    return this.filter.bytes.length;
  }

  /** Whether its lease holds. */
  get isProven(): boolean {
    return this.proof !== undefined && this.proof.holds;
  }

  /** Undefined where the store has to be asked. */
  verdict(id: IdKey): KnownVerdict | undefined {
    if (this.filter.mightContainKey(id)) return 'maybe';
    return this.isSureOf(id) ? 'absent' : undefined;
  }

  /**
   * Whether an id that it lacks is absent, without the store. Looked at after the bits, and in the same turn.
   */
  isSureOf(id: IdKey): boolean {
    const { covers } = this;
    return this.isProven || (covers !== undefined && !covers.era.isOver && covers.holds(id));
  }

  /** Whether it lets so much through that it had better be replaced at once. */
  isCrowded(): boolean {
    return measuredFillOf(this.filter.bytes, this.generation).errorRate > CROWDED_RATE;
  }

  add(id: IdKey): void {
    const { layout, bytes } = this.filter;
    if (layout.locate(id)) layout.insert(bytes, layout.block * BLOCK_BYTES, layout.seed);
  }

  /** Only for a copy without a lease. Other ids stay: nothing is removed that shares a bit. */
  remove(id: IdKey): void {
    this.filter.removeKey(id);
  }

  /** Takes ids by their places, for each its block and then its seed; false when there is no such block. */
  insert(places: Uint32Array): boolean {
    const { layout, bytes } = this.filter;
    for (let i = 0; i + 1 < places.length; i += 2) {
      if (places[i]! >= this.generation.blocks) return false;
      layout.insert(bytes, places[i]! * BLOCK_BYTES, places[i + 1]! | 0);
    }
    return places.length % 2 === 0;
  }

  /** Takes consecutive blocks; false when one of them is not of this generation, and then none. */
  fill(first: number, blocks: Uint8Array): boolean {
    const { layout, bytes } = this.filter;
    for (let at = 0; at < blocks.length; at += BLOCK_BYTES) if (!layout.owns(blocks, at)) return false;
    const offset = first * BLOCK_BYTES;
    if (this.keepsBits) this.merge(blocks, offset);
    else bytes.set(blocks, offset);
    return true;
  }

  private merge(blocks: Uint8Array, offset: number): void {
    const { bytes } = this.filter;
    // Replies begin at any byte of a buffer, and words only at every fourth.
    const read = this.wordsOf(blocks);
    const words = new Uint32Array(bytes.buffer, offset, read.length);
    for (let i = 0; i < read.length; i++) words[i]! |= read[i]!;
  }

  /** The next call overwrites the words: new memory for each piece would be garbage of the filter's size. */
  private wordsOf(blocks: Uint8Array): Uint32Array {
    if (blocks.length > aligned.byteLength) aligned = new Uint32Array(blocks.length / 4);
    new Uint8Array(aligned.buffer).set(blocks);
    return aligned.subarray(0, blocks.length / 4);
  }
}

/**
 * Reads all blocks of a copy's generation into it, one piece after the other.
 *
 * @param isWanted whether the copy is still needed; looked at after each wait.
 * @returns `foreign`: a block is not of this generation, which was swapped or damaged.
 * @throws {BloomUnavailableError} when the store cannot be asked.
 */
export async function readBlocks(
  copy: LocalCopy,
  from: Pick<CopyableFilter, 'readBlocks'>,
  budget: CopyBudget,
  isWanted: () => boolean,
): Promise<'read' | 'foreign' | 'unwanted'> {
  const { blocks } = copy.generation;
  const countFrom = (first: number) =>
    Math.min(PIECE_BLOCKS, blocks - first, GROUP_BLOCKS - (first % GROUP_BLOCKS));
  const readFrom = (first: number) => from.readBlocks(first, countFrom(first));
  for (let first = 0, piece = readFrom(0); first < blocks;) {
    const bytes = await piece;
    await budget.pay(bytes.length);
    if (!isWanted()) return 'unwanted';
    const count = countFrom(first);
    const next = first + count;
    if (next < blocks) {
      // On its way while this piece is taken.
      piece = readFrom(next);
      piece.catch(() => {});
    }
    if (bytes.length !== count * BLOCK_BYTES || !copy.fill(first, bytes)) return 'foreign';
    first = next;
  }
  return 'read';
}
