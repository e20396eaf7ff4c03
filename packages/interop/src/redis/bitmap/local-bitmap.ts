import { asBuffer, assertNotTooLong } from 'nestjs-bloom/internal';
import type { IdKey } from 'nestjs-bloom/filter';
import type { BitmapFilter, BitmapLayout } from '../../formats/index.js';
import type { LocalFilter } from 'nestjs-bloom/store';

/** What a scan reads, in the bit order of the peers. */
export class LocalBitmap implements LocalFilter {
  constructor(
    private readonly filter: BitmapFilter<BitmapLayout>,
    private readonly maxIdBytes: number,
  ) {}

  addKey(id: IdKey): boolean {
    assertNotTooLong(id, this.maxIdBytes);
    return this.filter.add(id);
  }

  /** Bytes of the bitmap, not copied; undefined when none of their bits is set. */
  piece(from: number, to: number): Buffer | undefined {
    const piece = asBuffer(this.filter.piece(from, to));
    return piece.some((byte) => byte !== 0) ? piece : undefined;
  }
}
