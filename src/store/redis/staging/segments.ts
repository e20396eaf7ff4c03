import { BLOCK_BYTES, type BlockedLayout, type Generation, layoutOf } from '../../../filter/index.js';

/** A segment is a Redis string of this many bytes; the last one of a generation may be shorter. */
export const SEGMENT_BYTES = 1 << 20;
export const SEGMENT_BLOCKS = SEGMENT_BYTES / BLOCK_BYTES;
export const MAX_SEGMENTS = 4096;

/** A generation whose blocks are in Redis, and where. */
export interface SegmentedGeneration {
  readonly generation: Generation;
  readonly layout: BlockedLayout;
  readonly segments: number;
  key(segment: number): string;
}

export function segmentedGeneration(
  generation: Generation,
  key: (segment: number) => string,
): SegmentedGeneration {
  return {
    generation,
    layout: layoutOf(generation),
    segments: segmentCount(generation),
    key,
  };
}

export function segmentCount({ blocks }: Pick<Generation, 'blocks'>): number {
  return Math.ceil(blocks / SEGMENT_BLOCKS);
}

export function segmentKeys(generations: readonly SegmentedGeneration[]): string[] {
  return generations.flatMap(({ segments, key }) =>
    Array.from({ length: segments }, (_, index) => key(index)),
  );
}

/** Length of a segment in bytes. */
export function segmentLength(generation: Generation, segment: number): number {
  return Math.min(SEGMENT_BYTES, generation.blocks * BLOCK_BYTES - segment * SEGMENT_BYTES);
}

/** The tag of a generation as it is stored: 8 hexadecimal digits; '' for none. */
export function tagText(generation: Pick<Generation, 'tag'> | undefined): string {
  return generation ? generation.tag.toString(16).padStart(8, '0') : '';
}

/** Room for two numbers below 2^20: for each its length and its decimal digits. */
export const RANGE_BYTES = 16;

/** For each block of a segment its first and its last byte, as the scripts read them. */
const texts = Buffer.alloc(SEGMENT_BLOCKS * RANGE_BYTES);
const lengths = new Uint8Array(SEGMENT_BLOCKS);

/** With the first range: a process that only imports the package needs none. */
function fillTexts(): void {
  for (let block = 0; block < SEGMENT_BLOCKS; block++) {
    const start = block * RANGE_BYTES;
    let at = start;
    for (const byte of [block * BLOCK_BYTES, (block + 1) * BLOCK_BYTES - 1]) {
      const length = texts.write(String(byte), at + 1, 'latin1');
      texts[at] = length;
      at += 1 + length;
    }
    lengths[block] = at - start;
  }
}

/** Writes the range of a block within its segment, at most `RANGE_BYTES`; returns where it ends. */
export function writeRange(to: Uint8Array, at: number, block: number): number {
  if (lengths[0] === 0) fillTexts();
  const start = block * RANGE_BYTES;
  const end = start + lengths[block]!;
  for (let i = start; i < end; i++) to[at++] = texts[i]!;
  return at;
}
