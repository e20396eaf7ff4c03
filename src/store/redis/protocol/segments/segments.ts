import { BLOCK_BYTES, BlockedLayout, type Generation } from '../../../../filter/index.js';

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
    layout: new BlockedLayout(generation),
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
