import type { Generation } from './generation.js';
import { BLOCK_BYTES, modelledErrorRate } from './sizing.js';

/** What a filter is like, whatever its layout. */
export interface FilterShape {
  /** Bits set for an id (k). */
  readonly hashCount: number;
  /** Its size. */
  readonly bytes: number;
  /** Share of absent ids answered "maybe", by the model for the ids it holds. */
  readonly modelledErrorRate: number;
  /** Share of the bits that are set; undefined where it is not known. */
  readonly fillRatio?: number | undefined;
  /** Whether integers of a range have a bit each: of them none passes that is absent. */
  readonly isExact?: boolean | undefined;
}

/** The shape of a generation that holds `ids` ids. The model is worked out when it is asked for. */
export function shapeOf({ hashCount, blocks, range }: Generation, ids: number): FilterShape {
  const bytes = blocks * BLOCK_BYTES;
  if (range) return { hashCount: 1, bytes, modelledErrorRate: 0, isExact: true };
  return {
    hashCount,
    bytes,
    get modelledErrorRate() {
      return modelledErrorRate({ hashCount, idsPerBlock: ids / blocks });
    },
  };
}
