import { BlockedLayout } from './blocked-layout.js';
import type { Generation, GenerationRange } from './generation.js';
import type { IdKey } from './id.js';
import { BLOCK_DATA_BITS, TAG_BYTES } from './sizing.js';

const TAG_BITS = TAG_BYTES * 8;
/** Every integer of more digits is beyond the safe ones. */
const MOST_DIGITS = 16;
const ZERO = 48;
const MINUS = 45;
/** Set in the seed of an id that is hashed. */
const HASHED = 0x80000000 | 0;

/**
 * Layout 8, `exact`: one bit for each integer of a range, in the blocks of layout 1.
 *
 * The position of an id is the integer less the first one of the range: block floor(position / 2016), bit
 * 32 + position mod 2016. The integer has to be written as `String(integer)` writes it. Every other id is
 * hashed into the blocks behind the range by the rules of layout 1, with the highest bit of its seed set. The
 * seed of an integer of the range is its bit.
 */
export class ExactLayout extends BlockedLayout {
  private readonly first: number;
  private readonly integers: number;
  private readonly rangeBlocks: number;

  constructor(generation: Generation & { readonly range: GenerationRange }) {
    const { range, blocks } = generation;
    super({ ...generation, blocks: blocks - range.blocks });
    this.first = range.first;
    this.rangeBlocks = range.blocks;
    this.integers = range.blocks * BLOCK_DATA_BITS;
  }

  override get isOwnBit(): boolean {
    return this.seed >= 0;
  }

  override locate(id: IdKey): boolean {
    const integer = typeof id === 'string' ? integerOfText(id) : integerOfBytes(id, 0, id.length);
    if (this.take(integer - this.first)) return true;
    const fits = super.locate(id);
    if (fits) this.moveBehindRange();
    return fits;
  }

  override locateBytes(bytes: Uint8Array, start: number, end: number): void {
    if (this.take(integerOfBytes(bytes, start, end) - this.first)) return;
    super.locateBytes(bytes, start, end);
    this.moveBehindRange();
  }

  override contains(bytes: Uint8Array, offset: number, seed: number): boolean {
    if (seed < 0) return super.contains(bytes, offset, seed);
    return ((bytes[offset + (seed >>> 3)]! >>> (seed & 7)) & 1) !== 0;
  }

  override insert(bytes: Uint8Array, offset: number, seed: number): boolean {
    if (seed < 0) return super.insert(bytes, offset, seed);
    const at = offset + (seed >>> 3);
    const before = bytes[at]!;
    bytes[at] = before | (1 << (seed & 7));
    return bytes[at] !== before;
  }

  override positions(seed: number): number[] {
    return seed < 0 ? super.positions(seed) : [seed];
  }

  /** @param position NaN for what is no integer. */
  private take(position: number): boolean {
    if (!(position >= 0 && position < this.integers)) return false;
    const block = (position / BLOCK_DATA_BITS) | 0;
    this.block = block;
    this.seed = TAG_BITS + (position - block * BLOCK_DATA_BITS);
    return true;
  }

  private moveBehindRange(): void {
    this.block += this.rangeBlocks;
    this.seed |= HASHED;
  }
}

/** How the bits of a generation are laid out. */
export function layoutOf(generation: Generation): BlockedLayout {
  const { range } = generation;
  return range ? new ExactLayout({ ...generation, range }) : new BlockedLayout(generation);
}

/**
 * The integer that a text is, as `String(integer)` writes it; NaN for any other text. Beyond the safe
 * integers it is rounded, to one that is not safe either.
 */
export function integerOfText(text: string): number {
  const { length } = text;
  let at = text.charCodeAt(0) === MINUS ? 1 : 0;
  if (at === length || length - at > MOST_DIGITS) return NaN;
  let value = text.charCodeAt(at) - ZERO;
  if (value < 0 || value > 9 || (value === 0 && length > 1)) return NaN;
  const isNegative = at === 1;
  while (++at < length) {
    const digit = text.charCodeAt(at) - ZERO;
    if (digit < 0 || digit > 9) return NaN;
    value = value * 10 + digit;
  }
  return isNegative ? -value : value;
}

/** The same of the text of these bytes. */
function integerOfBytes(bytes: Uint8Array, start: number, end: number): number {
  let at = bytes[start] === MINUS ? start + 1 : start;
  if (at >= end || end - at > MOST_DIGITS) return NaN;
  let value = bytes[at]! - ZERO;
  if (value < 0 || value > 9 || (value === 0 && end - start > 1)) return NaN;
  const isNegative = at > start;
  while (++at < end) {
    const digit = bytes[at]! - ZERO;
    if (digit < 0 || digit > 9) return NaN;
    value = value * 10 + digit;
  }
  return isNegative ? -value : value;
}
