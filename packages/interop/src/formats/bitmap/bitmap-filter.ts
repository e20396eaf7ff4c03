import { BloomConfigError, type BloomId } from 'nestjs-bloom/filter';
import type { BitmapLayout } from './bitmap-layout.js';
import { Bitmap } from './bitmap.js';
import { otherSettings } from '../peers.messages.js';

/** What the bits of a filter say about it. */
export interface FilterEstimate {
  readonly setBits: number;
  /** Ids that were added, as the peer counts or estimates them; Infinity when all bits are set. */
  readonly ids: number;
  /** Share of absent ids answered "maybe", by the set bits. */
  readonly errorRate: number;
}

/** A filter of one row of bits in the memory of this process. */
export abstract class BitmapFilter<Layout extends BitmapLayout> {
  private readonly bitmap: Bitmap;

  /**
   * @param bytes the bitmap in the layout's bit order; what it is short of is zeros. Left out: empty.
   * @throws {BloomConfigError} when the filter would exceed 4 GiB.
   */
  constructor(
    readonly layout: Layout,
    bytes?: Uint8Array,
  ) {
    this.bitmap = new Bitmap(layout, bytes);
  }

  /**
   * Adds an id; true when it was not there before.
   *
   * @throws {BloomIdError} when the peer could not have added the id.
   */
  add(id: BloomId): boolean {
    this.layout.locate(id);
    return this.bitmap.insert();
  }

  /**
   * False: the id was never added. True: it was, or the error rate struck.
   *
   * @throws {BloomIdError} when the peer could not have added the id.
   */
  mightContain(id: BloomId): boolean {
    this.layout.locate(id);
    return this.bitmap.contains();
  }

  /**
   * Adds all ids of another filter of the same layout and settings.
   *
   * @throws {BloomConfigError} when it is of others.
   */
  merge(other: BitmapFilter<Layout>): void {
    if (!this.layout.isSameAs(other.layout)) {
      throw new BloomConfigError(otherSettings(this.layout, other.layout));
    }
    this.bitmap.merge(other.bitmap);
  }

  /** Bytes of the bitmap from `from` up to `to`, in the bit order of the peer; not a copy. Of a filter that was made, not read. */
  piece(from: number, to: number): Uint8Array {
    return this.bitmap.view(from, to);
  }

  estimate(): FilterEstimate {
    const { bits, hashCount } = this.layout;
    const setBits = this.bitmap.countBits();
    return { setBits, ids: this.estimateIds(setBits), errorRate: (setBits / bits) ** hashCount };
  }

  /** A copy of all bytes, in the bit order of the peer. */
  protected copy(): Uint8Array {
    return this.bitmap.copy();
  }

  /** A copy of the bytes up to the last one that is not zero, which is what Redis keeps. */
  protected copyUsed(): Uint8Array {
    return this.bitmap.copyUsed();
  }

  /** -m/k ln(1 - X/m), rounded. */
  protected estimateIds(setBits: number): number {
    const { bits, hashCount } = this.layout;
    return Math.floor((-Math.log1p(-setBits / bits) * bits) / hashCount + 0.5);
  }
}
