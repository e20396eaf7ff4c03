import { type IdKey, isLongerThan, tooLong } from '../../../filter/index.js';
import type { BitFilter, BitLayout } from '../../../filter/peers/index.js';
import type { LocalFilter } from '../../index.js';

/** What a scan reads, in the bit order of the peers. */
export class LocalBitmap implements LocalFilter {
  constructor(
    private readonly filter: BitFilter<BitLayout>,
    private readonly maxIdBytes: number,
  ) {}

  addKey(id: IdKey): boolean {
    if (isLongerThan(id, this.maxIdBytes)) throw tooLong(this.maxIdBytes);
    return this.filter.add(id);
  }

  /** Bytes of the bitmap, not copied; undefined when none of their bits is set. */
  piece(from: number, to: number): Buffer | undefined {
    const bytes = this.filter.piece(from, to);
    const piece = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return piece.some((byte) => byte !== 0) ? piece : undefined;
  }
}
